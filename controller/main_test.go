package controller

import (
	"os"
	"testing"

	"windtunnel.dev/internal/parallel"
)

// Most parallel tests wait for the controller to sync or for nginx.
func TestMain(m *testing.M) { os.Exit(parallel.Tests{M: m, AtOnce: 6}.Run()) }
