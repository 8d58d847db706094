package metrics

import "github.com/prometheus/client_golang/prometheus"

// leader is the metric of the election among the controllers of one class.
type leader struct {
	status *prometheus.GaugeVec
	name   string
}

func newLeader(mint maker, name string) leader {
	l := leader{mint.gauges("leader_election_status", "1 if this controller is the leader, else 0.", "name"), name}
	l.status.WithLabelValues(name).Set(0)
	return l
}

func (l *leader) all() []prometheus.Collector { return []prometheus.Collector{l.status} }

// Leader sets whether this controller is the leader. Only the leader serves the expiry of
// certificates, so each certificate has one series.
func (m *Metrics) Leader(is bool) {
	value := 0.0
	if is {
		value = 1
	}
	m.leader.status.WithLabelValues(m.leader.name).Set(value)
	m.certificates.lead(is)
}
