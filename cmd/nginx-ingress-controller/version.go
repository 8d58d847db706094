package main

import (
	"fmt"
	"runtime/debug"

	"windtunnel.dev/controller/metrics"
)

// build says which program this is, from what the Go tool wrote into it.
func build() metrics.Build {
	b := metrics.Build{Release: "unknown", Commit: "unknown", Repository: "windtunnel.dev"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Release = info.Main.Version
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			b.Commit = setting.Value
		}
	}
	return b
}

func banner() string {
	return fmt.Sprintf("nginx-ingress-controller %s (%s, %s)", build().Release, build().Commit, build().Repository)
}
