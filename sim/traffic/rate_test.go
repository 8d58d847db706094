package traffic

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"syscall"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/sim/event"
)

// identities starts an nginx that itself answers like a pod, so that no pod behind it limits its rate.
// Its only worker runs on the first processor.
func identities(b *testing.B) netip.AddrPort {
	b.Helper()
	address := nginxtest.FreeAddress(b)
	sum := checksum(nil)
	nginxtest.Start(b, nginxtest.Conf{
		Workers: 1,
		Main:    "worker_cpu_affinity 01;\n",
		HTTP: fmt.Sprintf(`keepalive_requests 1000000000;
server {
  listen %s;
  location / {
    add_header X-Windtunnel-Pod demo/web-1;
    add_header X-Windtunnel-Service demo/web;
    add_header X-Windtunnel-State ready;
    add_header X-Windtunnel-Body %s;
    return 200 '{"pod":"demo/web-1","service":"demo/web","state":"ready","body":"%s"}';
  }
}`, address, sum, sum),
	})
	return netip.MustParseAddrPort(address)
}

// connections is the number of connections on which both generators send.
const connections = 128

// BenchmarkRate measures how many keep-alive GETs a second a lane sends and accounts for, beside
// wrk, against the same nginx. hack/bench-load gives the generators one processor, and nginx
// another.
func BenchmarkRate(b *testing.B) {
	const length = 3 * time.Second
	address := identities(b)
	b.Run("wrk", func(b *testing.B) {
		needWrk(b)
		for range b.N {
			said, err := wrk(b.Context(), connections, length, fmt.Sprintf("http://%s/", address))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(said.sent)/length.Seconds(), "requests/s")
		}
	})
	for _, lane := range []string{"http"} {
		b.Run(lane, func(b *testing.B) {
			for range b.N {
				benchmarkLane(b, lane, address, length)
			}
		})
	}
}

// benchmarkLane sends as fast as the connections permit: far more requests are due than can be
// sent.
func benchmarkLane(b *testing.B, lane string, to netip.AddrPort, length time.Duration) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), length)
	defer cancel()
	log := event.NewLog(io.Discard, time.Now())
	answered, due, missed, failed := 0, 0, 0, 0
	log.Tap(func(e event.Event) {
		switch {
		case e.Load != nil:
			due, missed = e.Load.Due, e.Load.Missed
		case e.Request != nil && e.Request.Cause == "":
			answered++
		case e.Request != nil:
			failed++
		}
	})
	before := usage(b)
	err := Run(ctx, Attack{
		Lane: lane, Rate: vegeta.Rate{Freq: 200_000, Per: time.Second}, To: to, MaxInFlight: connections, Log: log,
		Targets: []Target{{Host: "web.example", Service: "demo/web"}},
	})
	if err != nil {
		b.Fatal(err)
	}
	if answered+failed+missed != due || answered == 0 {
		b.Fatalf("%d answered, %d failed and %d missed of %d due", answered, failed, missed, due)
	}
	b.ReportMetric(float64(answered)/length.Seconds(), "requests/s")
	b.ReportMetric(float64((usage(b)-before).Nanoseconds())/1e3/float64(answered+failed), "cpu-µs/request")
	b.ReportMetric(float64(failed), "failures")
}

// usage returns the CPU time of this process.
func usage(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
