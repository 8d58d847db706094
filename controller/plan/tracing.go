package plan

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"
)

// sameTracing reports whether two states have the same tracer files.
func sameTracing(running, next State) bool {
	return maps.EqualFunc(running.Tracing, next.Tracing, bytes.Equal)
}

// whyTracing lists the differences between the tracer files.
func whyTracing(running, next State) []Why {
	var whys []Why
	for _, file := range slices.Sorted(maps.Keys(next.Tracing)) {
		whys = append(whys, compareAt(block{inner: path.Base(file)}, linesOf(running.Tracing[file]), linesOf(next.Tracing[file]))...)
	}
	for _, file := range slices.Sorted(maps.Keys(running.Tracing)) {
		if _, kept := next.Tracing[file]; !kept {
			whys = append(whys, Why{Old: "file " + path.Base(file)})
		}
	}
	return whys
}

func linesOf(text []byte) []string {
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
