package lua_test

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBench measures the cost of the Lua code inside nginx. It writes a table to the file in
// WINDTUNNEL_BENCH_LUA, which `make bench-lua` sets.
func TestBench(t *testing.T) {
	path := os.Getenv("WINDTUNNEL_BENCH_LUA")
	if path == "" {
		t.Skip("not a test but a measurement: make bench-lua")
	}
	bench, err := os.ReadFile("spec/bench.lua")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, setup{Workers: 1, Replace: map[string]string{
		"spec/bench.lua": string(bench),
		"nginx/ngx_conf_balancer.lua": `balancer.balance()
if ngx.var.http_x_bench then require("spec.bench").balance() end`,
	}, Server: `location = /sync { content_by_lua_block { require("spec.bench").sync() } }
location = /result { content_by_lua_block { ngx.print(ngx.shared.luaconfig:get("bench")) } }`})
	s.expectLog("a client request body is buffered")
	var out strings.Builder
	fmt.Fprintf(&out, "balance(), in the balancer phase of one worker: CPU time and memory allocated per call\n\n%-36s", "")
	counts := []int{1, 100, 10000}
	for _, n := range counts {
		fmt.Fprintf(&out, "%22s", fmt.Sprint("peers: ", n))
	}
	out.WriteByte('\n')
	w := s.workers("none")[0]
	for _, c := range []struct {
		name    string
		backend backend
		header  []string
	}{
		{"round_robin", backend{}, nil},
		{"ewma", backend{LoadBalance: "ewma"}, nil},
		{"chash, one variable", backend{HashBy: hashBy("$http_x_key", 0)}, nil},
		{"chash, two variables and text", backend{HashBy: hashBy("$http_x_key-$request_uri", 0)}, nil},
		{"chashsubset", backend{HashBy: hashBy("$http_x_key", 3)}, nil},
		{"sticky_balanced, with its cookie", backend{Affinity: affinity("balanced", nil)}, nil},
		{"sticky_persistent, with its cookie", backend{Affinity: affinity("persistent", nil)}, nil},
	} {
		fmt.Fprintf(&out, "%-36s", c.name)
		for _, n := range counts {
			b := c.backend
			b.Name, b.Endpoints = "shop", pods(t, 1)
			for i := 1; i < n; i++ { // nothing listens there; one request goes to one of them
				b.Endpoints = append(b.Endpoints, endpoint{fmt.Sprintf("127.90.%d.%d", i/250, i%250), "9"})
			}
			s.expectLog("Connection refused")
			s.awaitMark([]*worker{w}, s.post(b))
			header := []string{"X-Upstream", "shop", "Host", "shop.example", "X-Bench", "1", "X-Key", "some-key"}
			if b.Affinity != nil {
				cookie := "1732168800.123.4567"
				if c.name[:8] == "sticky_p" {
					cookie = md5Of("shop" + b.Endpoints[0].String())
				}
				header = append(header, "Cookie", "a=b; route="+cookie+"|x; c=d")
			}
			w.get(header...)
			fmt.Fprintf(&out, "%22s", w.getPath("/result").body)
		}
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "\nA sync of backends with 10 endpoints each: CPU time of one worker, the best of some rounds\n\n%8s  %11s  %12s  %12s  %12s  %12s  %12s\n",
		"backends", "POST", "parse alone", "all new", "none changed", "one changed", "one as delta")
	got := w.getPath("/sync")
	if got.status != http.StatusOK {
		t.Fatalf("sync: %d %s", got.status, got.body)
	}
	out.WriteString(got.body)
	fmt.Fprintf(&out, "\nA worker without requests: CPU time per second, as the kernel's scheduler counts it\n\n")
	announcements := socketForWorkers(t)
	announcer := openAnnouncer(t, announcements)
	for _, kind := range []struct {
		name   string
		config map[string]any
	}{
		{"polls only", nil},
		{"polls, and hears announcements", map[string]any{"announcements": "unix:" + announcements}},
	} {
		idle := start(t, setup{Workers: 1, Config: kind.config})
		if kind.config != nil {
			idle.awaitListeners(announcer, 1)
		}
		fmt.Fprintf(&out, "%-36s%22v\n", kind.name, idleCPU(t, idle.accepting()[0].PID))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	fmt.Print(out.String())
}

// idleCPU returns the CPU time per second of a process, over 30 s.
func idleCPU(t *testing.T, pid int) time.Duration {
	t.Helper()
	used := func() time.Duration {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
		if err != nil {
			t.Fatal(err)
		}
		var nanoseconds int64
		if _, err := fmt.Sscan(string(text), &nanoseconds); err != nil {
			t.Fatal(err)
		}
		return time.Duration(nanoseconds)
	}
	const seconds = 30
	before := used()
	time.Sleep(seconds * time.Second)
	return ((used() - before) / seconds).Round(time.Microsecond)
}

func md5Of(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}
