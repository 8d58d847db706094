package attack_test

import (
	"os"
	"testing"

	"windtunnel.dev/internal/parallel"
)

func TestMain(m *testing.M) { os.Exit(parallel.Tests{M: m, AtOnce: 4}.Run()) }
