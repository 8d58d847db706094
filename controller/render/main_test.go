package render_test

import (
	"os"
	"testing"

	"windtunnel.dev/internal/parallel"
)

// Most parallel tests wait for nginx to start and to end.
func TestMain(m *testing.M) { os.Exit(parallel.Tests{M: m, AtOnce: 6}.Run()) }
