package metrics

import (
	"os"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
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
