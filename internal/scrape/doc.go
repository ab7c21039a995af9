// Package scrape serves /metrics, over TLS to those who may read it, or in plain text to everybody. Both ways have limits
// that a client cannot get around. The package does not know what it serves: that is a handler that it is given.
//
// A scraper sends a bearer token. The API server says whose token it is (TokenReview) and whether its owner may get the
// path (SubjectAccessReview). The package metrics/filters of controller-runtime asks the same questions, but it uses the
// API server's own library, which makes the linker keep every exported method in the program: that adds 20 MiB. The two
// typed clients used here add next to nothing. Answers are reused for a short time, and the number of questions to the
// API server is limited, whatever tokens come.
package scrape
