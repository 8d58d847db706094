// Package version reports the version of this program, from the build information that the Go tool
// writes into the binary. Its one rule: it reports a missing value as unknown.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Unknown is reported for a version or commit that the Go tool did not record, as in a test.
const Unknown = "unknown"

// commit is set by the linker where the Go tool does not record it, as in a git worktree: a hash,
// with the suffix -dirty if the source had uncommitted changes.
var commit string

// Build identifies the source, compiler and platform of a binary.
type Build struct {
	Version  string `json:"version"`  // of the module: a tag, or (devel)
	Commit   string `json:"commit"`   // of the source
	Time     string `json:"time"`     // of the commit, RFC 3339; empty if unknown
	Modified bool   `json:"modified"` // the source had uncommitted changes
	Go       string `json:"go"`       // the compiler's version
	Platform string `json:"platform"` // such as linux/amd64
}

// Of returns the build of this binary.
func Of() Build {
	b := Build{Version: Unknown, Commit: Unknown, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value
		case "vcs.time":
			b.Time = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		}
	}
	if b.Commit == Unknown && commit != "" {
		b.Commit, b.Modified = strings.CutSuffix(commit, "-dirty")
	}
	return b
}

// String returns one line with the version, the commit and the compiler.
func (b Build) String() string {
	modified := ""
	if b.Modified {
		modified = ", modified"
	}
	return fmt.Sprintf("%s (commit %s%s, %s, %s)", b.Version, b.Commit, modified, b.Go, b.Platform)
}
