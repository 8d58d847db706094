package main

import (
	"fmt"
	"io"
	"text/tabwriter"

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
}

// write prints a table that compares the others with the last server.
func (r results) write(out io.Writer, servers []*server) error {
	fmt.Fprintf(out, "%d turns each, and one informer of EndpointSlices. Slices have 10 endpoints.\n", turns)
	fmt.Fprintf(out, "An application is a Service, its EndpointSlice and an Ingress; writes count the objects.\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "workload\tconnections\tbodies and informer\tserver\twrites/s\tevents/s\tserver µs/write\ttimes the real one\t")
	for _, workload := range workloads {
		for _, mediaType := range []string{load.JSON, load.Protobuf} {
			yardstick := r[resultsOf{workload.name, mediaType, servers[len(servers)-1].name}]
			for _, s := range servers {
				m := r[resultsOf{workload.name, mediaType, s.name}]
				fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%.0f\t%.0f\t%.0f\t%.1f\t\n", workload.name, workload.connections, mediaType, s.name, m.rate(m.writes), m.rate(m.events),
					float64(m.cpu.Microseconds())/float64(m.writes), m.rate(m.writes)/yardstick.rate(yardstick.writes))
			}
		}
	}
	return w.Flush()
}

func (m *measurement) rate(n int64) float64 { return float64(n) / m.took.Seconds() }
