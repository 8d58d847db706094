package lua_test

import (
	"os"
	"testing"

	"windtunnel.dev/internal/parallel"
)

// The tests wait for nginx's workers, which poll.
func TestMain(m *testing.M) { os.Exit(parallel.Tests{M: m, AtOnce: 8}.Run()) }
