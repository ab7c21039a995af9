// Package chart tests the Helm chart with the Helm SDK: what it renders, and what becomes of its objects when it is
// installed, upgraded, uninstalled and installed again on a real API server. No controllers run there, so nothing waits for
// pods.
package chart
