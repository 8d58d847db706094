package kubeapi

import (
	"os"
	"testing"

	"windtunnel.dev/internal/parallel"
)

// Most parallel tests wait for a client's backoff, for a timeout of the server, for kubectl, or a
// second for the end of an HTTP/2 connection.
func TestMain(m *testing.M) {
	overwriteBodies = os.Getenv(serveVariable) == "" // not in the servers of benchmarks
	os.Exit(parallel.Tests{M: m, AtOnce: 16}.Run())
}
