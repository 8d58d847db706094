package notice

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"windtunnel.dev/sim/event"
)

// The metrics that matter. Those of nginx's processes begin with nginxProcess.
const (
	controllerPrefix = "nginx_ingress_controller_"
	nginxProcess     = controllerPrefix + "nginx_process_"
)

// wanted are the prefixes of the lines of metrics that are read. Others, such as histograms per host, may
// be large.
var wanted = []string{
	controllerPrefix + "success", controllerPrefix + "errors", controllerPrefix + "config_last_reload_successful_timestamp_seconds",
	nginxProcess, "process_resident_memory_bytes", "process_cpu_seconds_total", "process_start_time_seconds",
}

// Sample is one reading of a controller's metrics.
type Sample struct {
	Scrape event.Scrape // without Pod
	Usage  event.Usage
	// Processes and Memory tell whether the metrics have those of nginx.
	Memory bool
}

// ParseMetrics reads the metrics of a controller. Times count from start.
func ParseMetrics(r io.Reader, start time.Time) (Sample, error) {
	text, err := filtered(r)
	if err != nil {
		return Sample{}, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return Sample{}, fmt.Errorf("read the metrics: %w", err)
	}
	m := metrics(families)
	if len(m) == 0 {
		return Sample{}, errors.New("the answer has no metrics of a controller")
	}
	return m.sample(start), nil
}

// filtered returns the lines of wanted metrics.
func filtered(r io.Reader) (io.Reader, error) {
	var kept bytes.Buffer
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		for _, prefix := range wanted {
			if strings.HasPrefix(lines.Text(), prefix) {
				kept.Write(lines.Bytes())
				kept.WriteByte('\n')
				break
			}
		}
	}
	return &kept, lines.Err()
}

// metrics are families by name.
type metrics map[string]*dto.MetricFamily

func (m metrics) sample(start time.Time) Sample {
	var s Sample
	if at, ok := m.value("process_start_time_seconds"); ok {
		s.Scrape.Started = time.UnixMilli(int64(at * 1000)).UTC()
	}
	if loaded, ok := m.value(controllerPrefix + "success"); ok {
		failed, _ := m.value(controllerPrefix + "errors")
		s.Scrape.Reloads = &event.Reloads{Loaded: int(loaded), Failed: int(failed)}
		if at, ok := m.value(controllerPrefix + "config_last_reload_successful_timestamp_seconds"); ok && at > 0 {
			s.Scrape.Reloads.Last = time.UnixMicro(int64(at * 1e6)).Sub(start)
		}
	}
	s.Scrape.Nginx = m.status()
	resident, known := m.value(nginxProcess + "resident_memory_bytes")
	s.Memory = known
	s.Usage.NginxRSS = int64(resident)
	s.Usage.NginxCPU = m.seconds(nginxProcess + "cpu_seconds_total")
	own, _ := m.value("process_resident_memory_bytes")
	s.Usage.ControllerRSS, s.Usage.ControllerCPU = int64(own), m.seconds("process_cpu_seconds_total")
	return s
}

// value returns the sum of a family's metrics with these labels, name=value.
func (m metrics) value(name string, labels ...string) (sum float64, ok bool) {
	for _, one := range m[name].GetMetric() {
		if !hasLabels(one, labels) {
			continue
		}
		ok = true
		sum += one.GetUntyped().GetValue() + one.GetCounter().GetValue() + one.GetGauge().GetValue()
	}
	return sum, ok
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

func (m metrics) seconds(name string) time.Duration {
	value, _ := m.value(name)
	return time.Duration(value * float64(time.Second))
}

// status returns what nginx counts, nil if the metrics do not have it.
func (m metrics) status() *event.Status {
	requests, ok := m.value(nginxProcess + "requests_total")
	if !ok {
		return nil
	}
	accepted, _ := m.value(nginxProcess+"connections_total", "state=accepted")
	handled, _ := m.value(nginxProcess+"connections_total", "state=handled")
	active, _ := m.value(nginxProcess+"connections", "state=active")
	return &event.Status{Active: int(active), Accepted: int64(accepted), Handled: int64(handled), Requests: int64(requests)}
}

var statusForm = regexp.MustCompile(`(?s)^Active connections: (\d+) .*?(\d+) (\d+) (\d+) `)

// ParseStatus reads nginx's status page (stub_status).
func ParseStatus(text string) (*event.Status, error) {
	found := statusForm.FindStringSubmatch(text)
	if found == nil {
		return nil, fmt.Errorf("not a status page of nginx: %.100q", text)
	}
	var numbers [4]int64
	for i := range numbers {
		var err error
		if numbers[i], err = strconv.ParseInt(found[i+1], 10, 64); err != nil {
			return nil, err
		}
	}
	return &event.Status{Active: int(numbers[0]), Accepted: numbers[1], Handled: numbers[2], Requests: numbers[3]}, nil
}
