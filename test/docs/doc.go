// Package docs compares the documentation with the repository: the folders and layers of docs/architecture.md with the
// packages and their imports, the outputs in README.md with what the plugin prints, links and pictures with the files.
package docs
