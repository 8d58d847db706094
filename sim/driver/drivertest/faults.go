package drivertest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/internal/command"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/fault"
)

// victim is an instance as faults see it.
type victim struct {
	driver.Instance
	noCluster
	mu       sync.Mutex
	troubles []string
}

// noCluster replaces the pods and workers, which an instance alone does not have. It is a separate
// type so that the methods of Instance take precedence over those of Unable.
type noCluster struct{ fault.Unable }

func (v *victim) Trouble(what, detail string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.troubles = append(v.troubles, what+": "+detail)
}

func (v *victim) trouble() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.troubles
}

// ofNginx tests the faults that act on nginx's files and network, wherever they are: each fault
// breaks its target, and heals it afterwards.
func ofNginx(t *testing.T, d driver.Driver) {
	if os.Geteuid() != 0 {
		t.Skip("filling disks and refusing connections needs root")
	}
	if limited, ok := d.(driver.FaultLimiter); ok {
		if why := limited.UnsupportedFault("config-tests"); why != "" {
			t.Skip(why)
		}
	}
	v := &victim{Instance: prepare(t, d, 0, nil)}
	launch(t, v)
	master, err := v.Master()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("disk-full", func(t *testing.T) { fullDisk(t, v, master) })
	t.Run("posts-refused", func(t *testing.T) { refusedPosts(t, v, master) })
	t.Run("config-tests", func(t *testing.T) { configTests(t, v) })
	stop(t, v)
}

// ofAPI tests that faults of the API server affect the requests of the subject, whatever its user
// agent, but not those of the harness.
func ofAPI(t *testing.T, d driver.Driver) {
	v := &victim{Instance: prepare(t, d, 0, nil)}
	launch(t, v)
	defer stop(t, v)
	f, _ := fault.Find("api-5xx")
	struck := make(chan int, 1)
	_, err := f.Strike(t.Context(), v, 2*time.Second, func(n int) { struck <- n })
	if errors.Is(err, fault.ErrNotHere) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(v.API())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error("the fault hit the harness: ", err)
	}
	if n := <-struck; n == 0 {
		t.Error("the fault struck nothing when the subject's watches reconnected")
	}
}

func strike(t *testing.T, v *victim, name string) (heal func()) {
	t.Helper()
	f, known := fault.Find(name)
	if !known {
		t.Fatal("unknown fault ", name)
	}
	heal, err := f.Strike(t.Context(), v, time.Hour, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return heal
}

func fullDisk(t *testing.T, v *victim, master int) {
	conf := confOf(t, master)
	more := filepath.Join(filepath.Dir(conf), "more")
	for range 2 { // the second time, it has its small disk already
		heal := strike(t, v, "disk-full")
		if err := os.WriteFile(more, []byte("more than nothing"), 0o644); err == nil {
			t.Error("a write to the full disk succeeded")
		}
		if _, err := os.Stat(conf); err != nil {
			t.Error("an existing file is missing: ", err)
		}
		heal()
		if err := os.WriteFile(more, []byte("more than nothing"), 0o644); err != nil {
			t.Error("a write failed after the disk was healed: ", err)
		}
		os.Remove(more)
	}
}

// confOf returns the path at which this process finds nginx.conf, from the title of nginx's master.
func confOf(t *testing.T, master int) string {
	t.Helper()
	title, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", master))
	if err != nil {
		t.Fatal(err)
	}
	_, arguments, found := strings.Cut(string(title), " -c ")
	if !found {
		t.Fatalf("nginx was started without -c: %s", title)
	}
	path, _, _ := strings.Cut(strings.TrimRight(arguments, "\x00"), " ")
	return fmt.Sprintf("/proc/%d/root%s", master, path)
}

func refusedPosts(t *testing.T, v *victim, master int) {
	dial := func() error {
		return command.New(t.Context(), "nsenter", "--target", strconv.Itoa(master), "--net",
			"bash", "-c", fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", v.StatusPort())).Run()
	}
	if err := dial(); err != nil {
		t.Fatal("before the fault: ", err)
	}
	heal := strike(t, v, "posts-refused")
	if dial() == nil {
		t.Error("a connection to the internal port succeeded")
	}
	heal()
	if err := dial(); err != nil {
		t.Error("after the fault was healed: ", err)
	}
}

// configTests also tears the configuration: a fault that tests nothing would find nothing wrong
// either.
func configTests(t *testing.T, v *victim) {
	defer strike(t, v, "config-tests")()
	seen := map[string]bool{}
	await(t, "a test of the whole configuration to be over", func() bool {
		for _, pid := range tests(t) {
			seen[pid] = true
		}
		return len(seen) > 1
	})
	if troubles := v.trouble(); len(troubles) != 0 {
		t.Errorf("nginx -t refuses a complete configuration: %v", troubles)
	}
	defer strike(t, v, "config-torn")()
	await(t, "nginx -t to find fault with half a configuration", func() bool { return len(v.trouble()) > 0 })
}

// tests returns the PIDs of our children that test a configuration: one or none.
func tests(t *testing.T) (pids []string) {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		children, _ := os.ReadFile(list) // a thread may have ended
		for _, pid := range strings.Fields(string(children)) {
			line, _ := os.ReadFile("/proc/" + pid + "/cmdline") // so may a child
			if bytes.HasSuffix(line, []byte("\x00-t\x00")) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func await(t *testing.T, what string, isSo func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !isSo(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("timeout while waiting for ", what)
		}
	}
}
