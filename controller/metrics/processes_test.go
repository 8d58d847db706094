package metrics

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/procfs"
)

// collect returns the values of a collector, by description.
func collect(c prometheus.Collector) map[*prometheus.Desc]float64 {
	out := make(chan prometheus.Metric, 100)
	c.Collect(out)
	close(out)
	values := map[*prometheus.Desc]float64{}
	for metric := range out {
		var written dto.Metric
		metric.Write(&written) // never fails for a constant
		values[metric.Desc()] = written.GetCounter().GetValue() + written.GetGauge().GetValue()
	}
	return values
}

// The totals include the usage of a process that has ended.
func TestProcesses(t *testing.T) {
	alive := []int{os.Getpid()}
	p := newProcesses(maker{}, func() []int { return alive })
	before := collect(p)
	if before[p.count] != 1 || before[p.resident] <= 0 || before[p.virtual] <= 0 || before[p.oldest] < 1e9 {
		t.Errorf("metrics of this process: %v", before)
	}
	for x := 0; collect(p)[p.cpu] <= before[p.cpu]; x++ { // use CPU until the kernel counts it
	}
	used := collect(p)
	alive = nil
	after := collect(p)
	if after[p.count] != 0 || after[p.resident] != 0 || after[p.cpu] < used[p.cpu] || after[p.written] < used[p.written] {
		t.Errorf("after the process is gone: %v, before: %v", after, used)
	}
}

// The totals of bytes do not fall if the kernel refuses to tell them for a while.
func TestBytesOfProcessesAreRefused(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "7"), 0o700); err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, "7", file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := newProcesses(maker{}, func() []int { return []int{7} })
	if p.fs, err = procfs.NewFS(folder); err != nil {
		t.Fatal(err)
	}
	write("stat", string(stat))
	bytes := func(read, written int) string {
		return fmt.Sprintf("rchar: 1\nwchar: 1\nsyscr: 1\nsyscw: 1\nread_bytes: %d\nwrite_bytes: %d\ncancelled_write_bytes: 0\n", read, written)
	}
	for _, step := range []struct {
		io            string
		read, written float64
	}{{bytes(100, 200), 100, 200}, {"", 100, 200}, {bytes(110, 220), 110, 220}} {
		write("io", step.io)
		if step.io == "" {
			if err := os.Remove(filepath.Join(folder, "7", "io")); err != nil {
				t.Fatal(err)
			}
		}
		if got := collect(p); got[p.read] != step.read || got[p.written] != step.written {
			t.Errorf("io %q: read %v, written %v, want %v and %v", step.io, got[p.read], got[p.written], step.read, step.written)
		}
	}
}
