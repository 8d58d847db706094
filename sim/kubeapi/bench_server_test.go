package kubeapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/kubeapi/load"
)

// The benchmarks over HTTP measure a server in a separate process, so that they count only its
// processor time and memory.

const (
	benchToken      = "token-of-the-benchmarks"
	serveVariable   = "KUBEAPI_BENCH_SERVE"
	profileVariable = "KUBEAPI_BENCH_PROFILE" // path of the server's CPU profile
)

// TestServeAlone runs in the separate process: it serves until its input ends.
func TestServeAlone(t *testing.T) {
	if os.Getenv(serveVariable) == "" {
		t.Skip("only the benchmarks run this, as a process of its own")
	}
	DedicateProcess()
	s, err := Start(Options{HTTP: "127.0.0.1:0", Token: benchToken, AllowLoopbackEndpoints: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	fmt.Printf("serving %s\n", s.URL())
	io.Copy(io.Discard, os.Stdin)
}

// TestEchoAlone runs in the separate process of BenchmarkEcho.
func TestEchoAlone(t *testing.T) {
	if os.Getenv(serveVariable) == "" {
		t.Skip("only the benchmarks run this, as a process of its own")
	}
	DedicateProcess()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	echo := http.Server{Handler: http.HandlerFunc(load.Echo)}
	defer echo.Close()
	go echo.Serve(listener)
	fmt.Printf("serving http://%s\n", listener.Addr())
	io.Copy(io.Discard, os.Stdin)
}

// process is a server in a separate process.
type process struct {
	url string
	pid int
}

func startProcess(b *testing.B) process {
	b.Helper()
	return startProcessOf(b, "TestServeAlone")
}

// startProcessOf starts a process that runs a test, which prints the URL that it serves.
func startProcessOf(b *testing.B, test string) process {
	b.Helper()
	DedicateProcess() // spare the load generator garbage collections, too
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+test+"$", "-test.timeout=0")
	if file := os.Getenv(profileVariable); file != "" {
		cmd.Args = append(cmd.Args, "-test.cpuprofile="+file)
	}
	cmd.Env = append(os.Environ(), serveVariable+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		time.AfterFunc(10*time.Second, cancel) // in case the server does not exit by itself
		cmd.Wait()
		cancel()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if url, ok := strings.CutPrefix(lines.Text(), "serving "); ok {
			go io.Copy(io.Discard, out)
			return process{url, cmd.Process.Pid}
		}
	}
	b.Fatal("the server did not start")
	return process{}
}

func (p process) address() string { return strings.TrimPrefix(p.url, "http://") }

func (p process) config() *rest.Config {
	return &rest.Config{Host: p.url, QPS: -1, BearerToken: benchToken}
}

func (p process) stat(b *testing.B) procfs.ProcStat {
	b.Helper()
	proc, err := procfs.NewProc(p.pid)
	if err != nil {
		b.Fatal(err)
	}
	stat, err := proc.Stat()
	if err != nil {
		b.Fatal(err)
	}
	return stat
}

// cpu returns the processor time spent so far, with a resolution of ten milliseconds.
func (p process) cpu(b *testing.B) time.Duration {
	return time.Duration(p.stat(b).CPUTime() * float64(time.Second))
}

func (p process) rssMiB(b *testing.B) float64 { return float64(p.stat(b).ResidentMemory()) / (1 << 20) }

// BenchmarkReady measures the time from the start of a process to its first answer.
func BenchmarkReady(b *testing.B) {
	for b.Loop() {
		p := startProcess(b)
		resp, err := http.Get(p.url + "/readyz")
		if err != nil || resp.StatusCode != http.StatusOK {
			b.Fatal(err, resp)
		}
		resp.Body.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/ready")
}
