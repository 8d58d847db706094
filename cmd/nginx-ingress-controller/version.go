package main

import (
	"fmt"

	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/internal/version"
)

// build returns the version of this program, as the metrics report it.
func build() metrics.Build {
	b := version.Of()
	return metrics.Build{Release: b.Version, Commit: b.Commit, Repository: "windtunnel.dev"}
}

func banner() string {
	return fmt.Sprintf("nginx-ingress-controller %s (%s, %s)", build().Release, build().Commit, build().Repository)
}
