// Package check asks a running operator from outside whether it does its work: for the tests of the chart, whose image has
// no other program in it, and for people.
package check
