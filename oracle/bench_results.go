package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"windtunnel.dev/sim/kubeapi/load"
)

// results are the sums over all turns.
type results map[resultsOf]*measurement

type resultsOf struct {
	workload, mediaType string
	contender           contender
}

func (r results) add(of resultsOf, m measurement) {
	sum := r[of]
	if sum == nil {
		sum = &measurement{}
		r[of] = sum
	}
	sum.writes += m.writes
	sum.events += m.events
	sum.took += m.took
	sum.cpu += m.cpu
	sum.clientCPU += m.clientCPU
}

// write prints a table. It compares contenders with an informer with the real server and its informer,
// and contenders without one with the real server alone and with the echo.
func (r results) write(out io.Writer, contenders []contender) error {
	fmt.Fprintf(out, "%d turns each. Slices have 10 endpoints. An informer of EndpointSlices follows the writes, or none.\n", turns)
	fmt.Fprintf(out, "An application is a Service, its EndpointSlice and an Ingress; writes count the objects.\n")
	fmt.Fprintf(out, "The clients, which are the writers and the informer, share the processors with the server.\n")
	fmt.Fprintf(out, "The echo only returns the body of each request. No server that uses net/http can be faster.\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\t\t\t\t\t\t\tCPU µs/write\t\ttimes the real one\t\ttimes the echo\t\t")
	fmt.Fprintln(w, "workload\tconnections\tbodies\tserver\tinformers\twrites/s\tevents/s\tserver\tclients\twrites/s\tserver's CPU\twrites/s\tserver's CPU\t")
	for _, workload := range workloads {
		for _, mediaType := range []string{load.JSON, load.Protobuf} {
			of := func(c contender) *measurement { return r[resultsOf{workload.name, mediaType, c}] }
			real := map[bool]*measurement{} // by whether there is an informer
			var echo *measurement
			for _, c := range contenders {
				if c.name == nameOfReal {
					real[c.informed] = of(c)
				}
				if c.stateless {
					echo = of(c)
				}
			}
			for _, c := range contenders {
				m := of(c)
				informers, ceiling := 0, m.times(echo)
				if c.informed {
					informers, ceiling = 1, "\t"
				}
				fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%s\t%s\t\n", workload.name, workload.connections, mediaType, c.name, informers,
					m.rate(m.writes), m.rate(m.events), m.perWrite(m.cpu), m.perWrite(m.clientCPU), m.times(real[c.informed]), ceiling)
			}
		}
	}
	return w.Flush()
}

// times returns two columns: the ratios of m to another measurement in writes per second, and in writes
// per second of the server's CPU time.
func (m *measurement) times(other *measurement) string {
	return fmt.Sprintf("%.2f\t%.2f", m.rate(m.writes)/other.rate(other.writes), other.perWrite(other.cpu)/m.perWrite(m.cpu))
}

func (m *measurement) rate(n int64) float64 { return float64(n) / m.took.Seconds() }

// perWrite returns CPU time in microseconds per object written.
func (m *measurement) perWrite(cpu time.Duration) float64 {
	return float64(cpu.Microseconds()) / float64(m.writes)
}
