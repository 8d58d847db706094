package doctor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// apart runs a test in a network namespace of its own, whose loopback is up.
func apart(t *testing.T, name string, test func(*testing.T)) {
	t.Run(name, func(t *testing.T) {
		runtime.LockOSThread() // for good: the thread and its namespace end with the test
		there, err := netns.New()
		if errors.Is(err, os.ErrPermission) {
			t.Skipf("cannot create a network namespace: %v", err)
		} else if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { there.Close() })
		setLoopback(t, netlink.LinkSetUp)
		test(t)
	})
}

func setLoopback(t *testing.T, set func(netlink.Link) error) {
	t.Helper()
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	if err := set(loopback); err != nil {
		t.Fatal(err)
	}
}

// track adds a rule to the namespace that needs connection tracking.
func track(t *testing.T) {
	t.Helper()
	rules := "add table inet test; add chain inet test out { type filter hook output priority 0; }; add rule inet test out ct state new accept"
	if out, err := exec.Command("nft", rules).CombinedOutput(); err != nil {
		t.Skipf("cannot add a rule that needs connection tracking: nft: %v: %s", err, out)
	}
}

func TestTracking(t *testing.T) {
	expect := func(t *testing.T, ok bool, parts ...string) {
		t.Helper()
		result := examineTracking(t.Context())
		if result.OK != ok || result.Needed {
			t.Errorf("%+v, want ok: %v, and not needed", result, ok)
		}
		for _, part := range parts {
			if !strings.Contains(result.Found, part) {
				t.Errorf("found %q, want %q", result.Found, part)
			}
		}
	}
	apart(t, "no rules", func(t *testing.T) {
		expect(t, true, "loopback is not tracked")
	})
	apart(t, "a rule", func(t *testing.T) {
		track(t)
		size, err := readTracker()
		if err != nil {
			t.Fatal(err)
		}
		expect(t, size.room() >= wantNew, "loopback is tracked", fmt.Sprintf(" of %d entries", size.limit), fmt.Sprintf("room for %d new", size.room()), exempt)
	})
	apart(t, "a table that is too small", func(t *testing.T) {
		track(t)
		keep(t, "1000000")
		expect(t, false, "loopback is tracked", "each stays for 1000000 s", exempt, "sysctl -w net.netfilter.nf_conntrack_max=1000000000")
	})
	apart(t, "an exemption", func(t *testing.T) {
		track(t)
		line := strings.Fields(exempt)
		if _, err := exec.LookPath(line[0]); err != nil {
			t.Skip(err)
		}
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", exempt, err, out)
		}
		expect(t, true, "loopback is not tracked")
	})
	apart(t, "packets are lost, as with a full table", func(t *testing.T) {
		setLoopback(t, netlink.LinkSetDown)
		expect(t, false, "a connection over loopback fails", "timeout")
		if size, err := readTracker(); err == nil {
			expect(t, false, fmt.Sprintf(" of %d entries are in use", size.limit))
		}
	})
}

// keep sets how many seconds a closed connection stays in the namespace's table.
func keep(t *testing.T, seconds string) {
	t.Helper()
	if err := os.WriteFile(trackerFolder+"nf_conntrack_tcp_timeout_time_wait", []byte(seconds), 0); err != nil {
		t.Skip(err)
	}
}

func TestRoomOfTracker(t *testing.T) {
	for _, test := range []struct {
		tracker tracker
		room    int
		text    string
	}{
		{tracker{entries: 7, limit: 262144, keeps: 120}, 2184, "7 of 262144 entries are in use; room for 2184 new connections per second, each stays for 120 s"},
		{tracker{entries: 9, limit: 65536, keeps: 120}, 546, "9 of 65536 entries are in use; room for 546 new connections per second, each stays for 120 s"},
		{tracker{entries: 9, limit: 65536}, 65536, "9 of 65536 entries are in use; room for 65536 new connections per second, each stays for 0 s"},
	} {
		if room, text := test.tracker.room(), test.tracker.String(); room != test.room || text != test.text {
			t.Errorf("%+v: %d, %q", test.tracker, room, text)
		}
	}
	if free := (tracker{entries: 9, keeps: 120}); free.room() < wantNew || free.String() != "9 entries are in use; there is no limit" {
		t.Errorf("without a limit: %d, %q", free.room(), free)
	}
}
