// Package check asks a running operator from outside whether it does its work. It is for people, and for the tests of the
// chart, which run in the operator's image because that has no other program.
package check
