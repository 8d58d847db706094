package kubeapi

import (
	"flag"
	"os"
	"testing"
)

// Most parallel tests wait for a client's backoff, for a timeout of the server, for kubectl, or a
// second for the end of an HTTP/2 connection, so more of them may run than there are processors.
const besideEachOther = "16"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", besideEachOther); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
