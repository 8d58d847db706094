package main

import (
	"fmt"

	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/internal/version"
)

// build says which program this is, in the words of the metrics.
func build() metrics.Build {
	b := version.Of()
	return metrics.Build{Release: b.Version, Commit: b.Commit, Repository: "windtunnel.dev"}
}

func banner() string {
	return fmt.Sprintf("nginx-ingress-controller %s (%s, %s)", build().Release, build().Commit, build().Repository)
}
