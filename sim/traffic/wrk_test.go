package traffic

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/sim/event"
)

// rival has the counts that wrk, another load generator, reports.
type rival struct{ sent, failed int }

var (
	wrkSent   = regexp.MustCompile(`(?m)^\s*(\d+) requests in `)
	wrkFailed = regexp.MustCompile(`(?m)^\s*Non-2xx or 3xx responses: (\d+)$`)
	wrkBroken = regexp.MustCompile(`(?m)^\s*Socket errors: .*$`)
)

func needWrk(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("wrk"); err != nil {
		t.Skipf("compares with wrk (Debian package wrk; hack/setup tests): %v", err)
	}
}

// wrk runs wrk with the given number of connections, each of which sends the next request when it
// has an answer: a closed loop.
func wrk(ctx context.Context, connections int, length time.Duration, url string) (rival, error) {
	out, err := exec.CommandContext(ctx, "wrk", "-t1", "--timeout", "10s", "-c"+strconv.Itoa(connections), fmt.Sprintf("-d%ds", int(length.Seconds())), url).CombinedOutput()
	if err != nil {
		return rival{}, fmt.Errorf("wrk: %w\n%s", err, out)
	}
	number := func(r *regexp.Regexp) int {
		if found := r.FindSubmatch(out); found != nil {
			n, _ := strconv.Atoi(string(found[1]))
			return n
		}
		return 0
	}
	said := rival{sent: number(wrkSent), failed: number(wrkFailed)}
	if said.sent == 0 || wrkBroken.Match(out) {
		return rival{}, fmt.Errorf("wrk reported errors:\n%s", out)
	}
	return said, nil
}

// ours runs the lane http against a path, at a rate and with a maximum number of concurrent
// requests, for a duration. It returns the events of its requests.
func ours(t *testing.T, to netip.AddrPort, path string, rate float64, atOnce int, length time.Duration) []event.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	log := newEvents()
	err := Run(ctx, Attack{
		Lane: "http", Rate: Arrivals{Rate: rate}.Pacer(1), To: to, MaxInFlight: atOnce, Log: log.Log,
		Targets: []Target{{Host: "web.example", Path: path, Service: "demo/web"}},
	})
	if err != nil {
		t.Error(err)
	}
	var requests []event.Event
	for _, e := range log.all(t) {
		if e.Request != nil {
			requests = append(requests, e)
		}
	}
	return requests
}

// Both generators run against one nginx that fails a quarter of the requests at random. The counts of each
// match nginx's own log, and both see the expected share.
func TestErrorsAgreeWithWrk(t *testing.T) {
	needWrk(t)
	dir := t.TempDir()
	quarter := func(name string) string {
		return fmt.Sprintf(`
    location /%s {
      access_log %s;
      if ($request_id ~ ^[0-3]) { return 503; }
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_pass http://pod;
    }`, name, filepath.Join(dir, name))
	}
	nginx := startNginxWith(t, pod(t, "127.212.0.0/24", "demo/web-1", "demo/web").Addr(), nginxtest.Conf{}, quarter("wrk")+quarter("ours"))

	const connections = 4
	theirs, err := wrk(t.Context(), connections, 2*time.Second, fmt.Sprintf("http://%s/wrk", nginx.address))
	if err != nil {
		t.Fatal(err)
	}
	sent, failed, cancelled := 0, 0, 0
	for _, e := range ours(t, nginx.address, "/ours", 500, 100, 2*time.Second) {
		sent++
		switch e.Request.Cause {
		case "":
		case event.OurCancel: // on a machine that stalls for a second
			sent--
			cancelled++
		case event.NginxError:
			failed++
		default:
			t.Errorf("%s: %s", e.Request.Cause, e.Request.Detail)
		}
	}
	// A generator ends with requests in flight, which nginx may have answered: wrk with one per
	// connection.
	for name, said := range map[string]struct{ sent, failed, open int }{
		"wrk": {theirs.sent, theirs.failed, connections}, "ours": {sent, failed, cancelled},
	} {
		log, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all, bad := bytes.Count(log, []byte("\n")), bytes.Count(log, []byte(`" 503 `))
		if d := all - said.sent; d < 0 || d > said.open {
			t.Errorf("%s: it reports %d requests, nginx %d", name, said.sent, all)
		}
		if d := bad - said.failed; d < 0 || d > said.open {
			t.Errorf("%s: it reports %d failures, nginx %d", name, said.failed, bad)
		}
		// Five standard deviations of a binomial share: wrong once in two million runs.
		share := float64(said.failed) / float64(said.sent)
		if bound := 5 * math.Sqrt(0.25*0.75/float64(said.sent)); math.Abs(share-0.25) > bound {
			t.Errorf("%s: %.4f of %d requests failed, want 0.25 ± %.4f", name, share, said.sent, bound)
		}
	}
}

// Both generators run at once, with the same number of requests in flight and a slow pod. Then the
// throughput of each is that number divided by the pod's time, and the machine affects both alike.
func TestThroughputAgreesWithWrk(t *testing.T) {
	needWrk(t)
	const (
		connections = 8
		length      = 4 * time.Second
		margin      = 0.15
	)
	nginx := startNginxWith(t, pod(t, "127.213.0.0/24", "demo/web-1", "demo/web").Addr(), nginxtest.Conf{}, `
    location /slow {
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header X-Windtunnel-Take 200ms;
      proxy_pass http://pod;
    }`)
	var difference float64
	for range 3 { // a stall of the machine when one of them ends is not a difference
		var said rival
		var theirs errgroup.Group
		theirs.Go(func() (err error) {
			said, err = wrk(t.Context(), connections, length, fmt.Sprintf("http://%s/slow", nginx.address))
			return err
		})
		begin, answered := time.Duration(-1), 0
		for _, e := range ours(t, nginx.address, "/slow", 1000, connections, length) {
			if begin < 0 {
				begin = e.At
			}
			if done := e.At + e.Request.Lag + e.Request.Took; done-begin <= length && e.Request.Cause == "" {
				answered++
			}
		}
		if err := theirs.Wait(); err != nil {
			t.Fatal(err)
		}
		difference = float64(answered)/float64(said.sent) - 1
		t.Logf("%v: wrk got %d answers, we got %d", length, said.sent, answered)
		if math.Abs(difference) <= margin && said.failed == 0 {
			return
		}
	}
	t.Errorf("we got %.0f %% more answers than wrk, three times in a row; the margin is %.0f %%", 100*difference, 100*margin)
}
