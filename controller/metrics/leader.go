package metrics

import "github.com/prometheus/client_golang/prometheus"

// leader is about the election among the controllers of one class.
type leader struct {
	status *prometheus.GaugeVec
	name   string
}

func newLeader(mint maker, name string) leader {
	l := leader{mint.gauges("leader_election_status", "1 of the controller that is the leader, 0 of others.", "name"), name}
	l.status.WithLabelValues(name).Set(0)
	return l
}

func (l *leader) all() []prometheus.Collector { return []prometheus.Collector{l.status} }

// Leader says whether this controller is the leader. Only a leader serves the
// metrics of certificates, so that each has one series.
func (m *Metrics) Leader(is bool) {
	value := 0.0
	if is {
		value = 1
	}
	m.leader.status.WithLabelValues(m.leader.name).Set(value)
	m.certificates.lead(is)
}
