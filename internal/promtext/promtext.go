// Package promtext reads metrics in Prometheus's text format. It stands between the metrics endpoints
// of controllers and the packages that need a few of their values. Its one rule: lines that nobody asked for
// are not parsed, because histograms for each host may be large.
package promtext

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics are families by name.
type Metrics map[string]*dto.MetricFamily

// Read reads the metrics whose names begin with one of the prefixes. Without such metrics, the result
// is empty.
func Read(r io.Reader, prefixes ...string) (Metrics, error) {
	text, err := filtered(r, prefixes)
	if err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	return families, nil
}

// filtered returns the lines that begin with one of the prefixes.
func filtered(r io.Reader, prefixes []string) (io.Reader, error) {
	var kept bytes.Buffer
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		for _, prefix := range prefixes {
			if strings.HasPrefix(lines.Text(), prefix) {
				kept.Write(lines.Bytes())
				kept.WriteByte('\n')
				break
			}
		}
	}
	return &kept, lines.Err()
}

// Value returns the sum of a family's metrics that have these labels, each as name=value. ok is false
// if there are none.
func (m Metrics) Value(name string, labels ...string) (sum float64, ok bool) {
	for _, one := range m[name].GetMetric() {
		if !hasLabels(one, labels) {
			continue
		}
		ok = true
		sum += valueOf(one)
	}
	return sum, ok
}

// By returns the values of a family's metrics by the value of a label; nil if there are none.
func (m Metrics) By(name, label string) map[string]float64 {
	var all map[string]float64
	for _, one := range m[name].GetMetric() {
		for _, pair := range one.GetLabel() {
			if pair.GetName() != label {
				continue
			}
			if all == nil {
				all = map[string]float64{}
			}
			all[pair.GetValue()] += valueOf(one)
		}
	}
	return all
}

// Seconds returns a value in seconds as a duration; 0 if there is none.
func (m Metrics) Seconds(name string) time.Duration {
	value, _ := m.Value(name)
	return time.Duration(value * float64(time.Second))
}

func valueOf(m *dto.Metric) float64 {
	return m.GetUntyped().GetValue() + m.GetCounter().GetValue() + m.GetGauge().GetValue()
}

func hasLabels(m *dto.Metric, labels []string) bool {
	for _, label := range labels {
		name, value, _ := strings.Cut(label, "=")
		found := false
		for _, pair := range m.GetLabel() {
			found = found || pair.GetName() == name && pair.GetValue() == value
		}
		if !found {
			return false
		}
	}
	return true
}
