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

type resultsOf struct{ workload, mediaType, server string }

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

// write prints a table that compares the others with the last server.
func (r results) write(out io.Writer, servers []*server) error {
	fmt.Fprintf(out, "%d turns each, and one informer of EndpointSlices. Slices have 10 endpoints.\n", turns)
	fmt.Fprintf(out, "An application is a Service, its EndpointSlice and an Ingress; writes count the objects.\n")
	fmt.Fprintf(out, "The clients, which are the writers and the informer, share the processors with the server.\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\t\t\t\t\t\tCPU µs/write\t\ttimes the real one\t\t")
	fmt.Fprintln(w, "workload\tconnections\tbodies and informer\tserver\twrites/s\tevents/s\tserver\tclients\twrites/s\tserver's CPU\t")
	for _, workload := range workloads {
		for _, mediaType := range []string{load.JSON, load.Protobuf} {
			yardstick := r[resultsOf{workload.name, mediaType, servers[len(servers)-1].name}]
			for _, s := range servers {
				m := r[resultsOf{workload.name, mediaType, s.name}]
				fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.1f\t%.1f\t\n", workload.name, workload.connections, mediaType, s.name,
					m.rate(m.writes), m.rate(m.events), m.perWrite(m.cpu), m.perWrite(m.clientCPU),
					m.rate(m.writes)/yardstick.rate(yardstick.writes), yardstick.perWrite(yardstick.cpu)/m.perWrite(m.cpu))
			}
		}
	}
	return w.Flush()
}

func (m *measurement) rate(n int64) float64 { return float64(n) / m.took.Seconds() }

// perWrite returns CPU time in microseconds per object written.
func (m *measurement) perWrite(cpu time.Duration) float64 {
	return float64(cpu.Microseconds()) / float64(m.writes)
}
