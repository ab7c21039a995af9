// Package watch brings Nodes, Pods and DRA objects from an API server into a fleet, and keeps it current. It knows which
// inputs have been read, and why the others have not.
package watch
