// Package version reports which build this is.
package version

import "runtime/debug"

// override is set by the linker if the build has no version control data, as in an image build.
var override string

// Version returns the version that the linker set, or that of the module, or "devel" if neither is known.
func Version() string {
	if override != "" {
		return override
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// Revision returns the commit that was built, with "+dirty" if the tree was changed. It is empty if the commit is not known.
func Revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var revision, dirty string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	return revision + dirty
}
