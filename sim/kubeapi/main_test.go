package kubeapi

import (
	"flag"
	"os"
	"testing"
)

// Most tests that run beside each other wait for a client to back off, for a server to time
// out or for kubectl: there may be more of them than processors.
const besideEachOther = "8"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", besideEachOther); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
