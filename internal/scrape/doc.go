// Package scrape serves /metrics: over TLS to those who may read it, or in plain text to everybody, in both cases with
// limits that a client cannot get around. What is served is not its business; that comes as a handler.
//
// A scraper shows a bearer token. The API server says whose it is (TokenReview) and whether its owner may get the path
// (SubjectAccessReview). The package metrics/filters of controller-runtime asks the same questions, but with the API server's
// own library, which makes the linker keep every exported method of the program: it adds 20 MiB. Two typed clients add next
// to nothing. The answers are kept for a short time, and how often the API server is asked is bounded, whatever tokens come.
package scrape
