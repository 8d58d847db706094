package notice

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	"windtunnel.dev/internal/promtext"
	"windtunnel.dev/sim/event"
)

// The metrics that matter. Those of nginx's processes begin with nginxProcess.
const (
	controllerPrefix = "nginx_ingress_controller_"
	nginxProcess     = controllerPrefix + "nginx_process_"
)

// wanted are the prefixes of the metrics that are read.
var wanted = []string{
	controllerPrefix + "success", controllerPrefix + "errors", controllerPrefix + "config_last_reload_successful_timestamp_seconds",
	nginxProcess, "process_resident_memory_bytes", "process_cpu_seconds_total", "process_start_time_seconds",
}

// Sample is one reading of a controller's metrics.
type Sample struct {
	Scrape event.Scrape // without Pod
	Usage  event.Usage
	// Memory says whether the metrics have the memory of nginx.
	Memory bool
}

// ParseMetrics reads the metrics of a controller. Times count from start.
func ParseMetrics(r io.Reader, start time.Time) (Sample, error) {
	read, err := promtext.Read(r, wanted...)
	if err != nil {
		return Sample{}, err
	}
	if len(read) == 0 {
		return Sample{}, errors.New("the answer has no metrics of a controller")
	}
	return metrics{read}.sample(start), nil
}

// metrics are the metrics of a controller.
type metrics struct{ promtext.Metrics }

func (m metrics) sample(start time.Time) Sample {
	var s Sample
	if at, ok := m.Value("process_start_time_seconds"); ok {
		s.Scrape.Started = time.UnixMilli(int64(at * 1000)).UTC()
	}
	if loaded, ok := m.Value(controllerPrefix + "success"); ok {
		failed, _ := m.Value(controllerPrefix + "errors")
		s.Scrape.Reloads = &event.Reloads{Loaded: int(loaded), Failed: int(failed)}
		if at, ok := m.Value(controllerPrefix + "config_last_reload_successful_timestamp_seconds"); ok && at > 0 {
			s.Scrape.Reloads.Last = time.UnixMicro(int64(at * 1e6)).Sub(start)
		}
	}
	s.Scrape.Nginx = m.status()
	resident, known := m.Value(nginxProcess + "resident_memory_bytes")
	s.Memory = known
	s.Usage.NginxRSS = int64(resident)
	s.Usage.NginxCPU = m.Seconds(nginxProcess + "cpu_seconds_total")
	own, _ := m.Value("process_resident_memory_bytes")
	s.Usage.ControllerRSS, s.Usage.ControllerCPU = int64(own), m.Seconds("process_cpu_seconds_total")
	return s
}

// status returns nginx's counters, or nil if the metrics do not have them.
func (m metrics) status() *event.Status {
	requests, ok := m.Value(nginxProcess + "requests_total")
	if !ok {
		return nil
	}
	accepted, _ := m.Value(nginxProcess+"connections_total", "state=accepted")
	handled, _ := m.Value(nginxProcess+"connections_total", "state=handled")
	active, _ := m.Value(nginxProcess+"connections", "state=active")
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
