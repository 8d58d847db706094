package backend

import (
	"net/netip"
	"runtime"
	"testing"
	"time"

	"windtunnel.dev/internal/port"
	"windtunnel.dev/internal/sharedlistener"
)

// benchmarkFleet returns a fleet whose pods share sockets.
func benchmarkFleet(b *testing.B) *Loopback {
	b.Helper()
	if err := sharedlistener.Supported(); err != nil {
		b.Skip(err)
	}
	free, err := port.Free(1)
	if err != nil {
		b.Fatal(err)
	}
	f := New(Options{Prefix: netip.MustParsePrefix("127.128.0.0/10"), Port: free})
	b.Cleanup(f.Stop)
	return f
}

// A hundred thousand pods start, each answers with its name, and all end. The metrics are how long each
// of the three takes; the files that the pods use; and the resident memory of the process when the pods
// are ready, and when all have answered the process's own client.
func BenchmarkHundredThousandPods(b *testing.B) {
	since := func(begin time.Time, unit string) { b.ReportMetric(time.Since(begin).Seconds(), unit) }
	for b.Loop() {
		before := openFiles(b)
		f := benchmarkFleet(b)
		begin := time.Now()
		pods := startMany(b, f, 100_000)
		since(begin, "s/start")
		b.ReportMetric(float64(openFiles(b)-before), "files")
		b.ReportMetric(float64(resident(b))/(1<<20), "MiB-ready")

		begin = time.Now()
		askMany(b, pods)
		since(begin, "s/answer")
		b.ReportMetric(float64(resident(b))/(1<<20), "MiB-answered")

		begin = time.Now()
		f.Stop()
		since(begin, "s/stop")
		runtime.KeepAlive(pods)
	}
}

// A pod starts, becomes ready and is gone.
func BenchmarkBirthAndDeath(b *testing.B) {
	f := benchmarkFleet(b)
	for i := 0; b.Loop(); i++ {
		p, err := f.Start(name(i), "demo/web")
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Ready(); err != nil {
			b.Fatal(err)
		}
		p.Gone()
	}
}
