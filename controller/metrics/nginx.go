package metrics

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// Nginx adds the metrics of an nginx: of stub_status and of Lua's dictionaries, both at these URLs,
// and of its processes in /proc. Those of the dictionaries cost nothing between scrapes, so they
// are served even without Options.Full.
func (m *Metrics) Nginx(status, dictionaries string, processes func() []int) {
	m.registry.MustRegister(newDictionaries(m.maker, dictionaries))
	if m.full {
		m.registry.MustRegister(newStubStatus(m.maker, status), newProcesses(m.maker, processes))
	}
}

// stubStatus is a collector that queries nginx at each scrape. If nginx does not answer, the scrape
// does not contain these metrics.
type stubStatus struct {
	page            page
	total, requests *prometheus.Desc
	connections     *prometheus.Desc
}

func newStubStatus(mint maker, url string) *stubStatus {
	return &stubStatus{
		page:        newPage(url),
		total:       mint.desc("nginx_process_connections_total", "Connections of clients, accepted and handled.", "state"),
		requests:    mint.desc("nginx_process_requests_total", "Requests of clients."),
		connections: mint.desc("nginx_process_connections", "Connections of clients that are active, reading, writing or waiting.", "state"),
	}
}

// Describe implements prometheus.Collector.
func (s *stubStatus) Describe(descs chan<- *prometheus.Desc) {
	descs <- s.total
	descs <- s.requests
	descs <- s.connections
}

// Collect implements prometheus.Collector.
func (s *stubStatus) Collect(metrics chan<- prometheus.Metric) {
	text, err := s.page.read()
	if err != nil {
		return
	}
	n, err := parseStubStatus(string(text))
	if err != nil {
		return
	}
	counter := func(desc *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, value, labels...)
	}
	counter(s.total, n.accepted, "accepted")
	counter(s.total, n.handled, "handled")
	counter(s.requests, n.requests)
	for state, value := range map[string]float64{"active": n.active, "reading": n.reading, "writing": n.writing, "waiting": n.waiting} {
		metrics <- prometheus.MustNewConstMetric(s.connections, prometheus.GaugeValue, value, state)
	}
}

type stubNumbers struct {
	active, accepted, handled, requests, reading, writing, waiting float64
}

var stubForm = regexp.MustCompile(`(?s)^Active connections: (\d+) .*?(\d+) (\d+) (\d+) \s*Reading: (\d+) Writing: (\d+) Waiting: (\d+)`)

// parseStubStatus reads the text of nginx's stub_status.
func parseStubStatus(text string) (stubNumbers, error) {
	found := stubForm.FindStringSubmatch(text)
	if found == nil {
		return stubNumbers{}, fmt.Errorf("not an answer of stub_status: %.100q", text)
	}
	var n stubNumbers
	for i, field := range []*float64{&n.active, &n.accepted, &n.handled, &n.requests, &n.reading, &n.writing, &n.waiting} {
		value, err := strconv.ParseFloat(found[i+1], 64)
		if err != nil {
			return stubNumbers{}, err
		}
		*field = value
	}
	return n, nil
}
