package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"windtunnel.dev/sim/kubeapi/load"
)

// results are the sums over all turns, by server and media type.
type results map[resultsOf]*measurement

type resultsOf struct{ server, mediaType string }

func (r results) add(server, mediaType string, m measurement) {
	sum := r[resultsOf{server, mediaType}]
	if sum == nil {
		sum = &measurement{}
		r[resultsOf{server, mediaType}] = sum
	}
	sum.updates += m.updates
	sum.events += m.events
	sum.took += m.took
	sum.cpu += m.cpu
}

// write prints a table that compares the others with the last server.
func (r results) write(out io.Writer, servers []*server) error {
	fmt.Fprintf(out, "%d turns each; EndpointSlices of 10 endpoints, %d connections that write, one informer\n\n", turns, writers)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "bodies and informer\tserver\tupdates/s\tevents/s\tserver µs/update\ttimes the real one\t")
	for _, mediaType := range []string{load.JSON, load.Protobuf} {
		yardstick := r[resultsOf{servers[len(servers)-1].name, mediaType}]
		for _, s := range servers {
			m := r[resultsOf{s.name, mediaType}]
			fmt.Fprintf(w, "%s\t%s\t%.0f\t%.0f\t%.0f\t%.1f\t\n", mediaType, s.name, m.rate(m.updates), m.rate(m.events),
				float64(m.cpu.Microseconds())/float64(m.updates), m.rate(m.updates)/yardstick.rate(yardstick.updates))
		}
	}
	return w.Flush()
}

func (m *measurement) rate(n int64) float64 { return float64(n) / m.took.Seconds() }
