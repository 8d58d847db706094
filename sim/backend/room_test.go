package backend

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"windtunnel.dev/internal/sharedlistener"
)

func TestNeed(t *testing.T) {
	denied := fmt.Errorf("%w: not permitted", sharedlistener.ErrUnsupported)
	need := Need{Subjects: 2, Pods: 10_000, Sockets: 10_000}
	if err := need.fitFiles(20_000, nil); err != nil {
		t.Errorf("pods that share sockets: %v", err)
	}
	if err := need.fitFiles(20_500, denied); err != nil {
		t.Errorf("with enough files: %v", err)
	}
	err := need.fitFiles(20_000, denied)
	if err == nil || !errors.Is(err, sharedlistener.ErrUnsupported) {
		t.Fatalf("with too few files: %v", err)
	}
	for _, part := range []string{"2 subjects × 10000 sockets + 500 other files = 20500", "limit is 20000", "ulimit -n", "not permitted"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	fault := errors.New("a fault")
	if err := need.fitFiles(1_000_000, fault); !errors.Is(err, fault) {
		t.Errorf("another error of the kernel: %v", err)
	}
	if err := need.Fit(9_999); err == nil || !strings.Contains(err.Error(), "10000 pods need an address each, and there are 9999") {
		t.Errorf("with too few addresses: %v", err)
	}
}
