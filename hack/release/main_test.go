package main

import (
	"io"
	"strings"
	"testing"
)

func TestArgumentsThatCannotWorkAreRefused(t *testing.T) {
	for args, want := range map[string]string{
		"":                              "say what to do",
		"deploy":                        "say what to do",
		"publish":                       "--tag and --identity",
		"publish --tag v1.2.3":          "--tag and --identity",
		"dry-run --tag v1.2.3":          "not defined: -tag",
		"dry-run now":                   `unexpected argument "now"`,
		"publish --tag v1 --identity u": "",
		"dry-run --cold --assets out":   "",
	} {
		o, err := parse(strings.Fields(args), io.Discard)
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("parse(%q) = %+v, %v: want %q", args, o, err, want)
		}
	}
}
