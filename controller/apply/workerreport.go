package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"windtunnel.dev/controller/nginx"
)

// reportPoll is the pause between two requests for worker reports.
const reportPoll = 10 * time.Millisecond

// WorkerReport is a worker's report of what it serves.
type WorkerReport struct {
	PID        int
	Generation int // a number that grows with every load of nginx.conf
	Workers    int // number of workers of that generation
	// Backends and Certificates are the numbers of the newest POSTs that the worker has applied; 0
	// for none. The numbers grow with every POST.
	Backends, Certificates uint64
}

// ErrNoReports means that nginx's Lua does not report what its workers serve: it is not our Lua
// code, or options.ReportWorkers is off.
var ErrNoReports = errors.New("nginx's Lua does not report what its workers serve")

// WorkerReports requests the reports of all workers from nginx.
func (t *Target) WorkerReports(ctx context.Context) ([]WorkerReport, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.control+"/configuration/workers", nil)
	if err != nil {
		return nil, err
	}
	response, err := control.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking nginx what its workers serve: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound {
		return nil, ErrNoReports
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking nginx what its workers serve: %s answers %s", request.URL, response.Status)
	}
	var all []WorkerReport
	if err := json.NewDecoder(response.Body).Decode(&all); err != nil {
		return nil, fmt.Errorf("reading what nginx's workers serve: %w", err)
	}
	return all, nil
}

// AwaitWorkers returns when every worker that accepts connections reports the newest accepted
// backends, or newer ones. It retries after every error except ErrNoReports.
func (t *Target) AwaitWorkers(ctx context.Context) error {
	process := t.started()
	if process == nil {
		return errors.New("nginx is not running")
	}
	tick := time.NewTicker(reportPoll)
	defer tick.Stop()
	for {
		reports, err := t.WorkerReports(ctx)
		if errors.Is(err, ErrNoReports) {
			return err
		}
		if workers, workersErr := process.Workers(); workersErr == nil && allServe(workers, reports, t.sequence.Load()) {
			return nil
		}
		select {
		case <-tick.C:
		case <-process.Done():
			return fmt.Errorf("nginx ended while the reports of its workers were read: %w", process.Err())
		case <-ctx.Done():
			return fmt.Errorf("waiting for all workers of nginx to serve POST %d (they reported %+v, %v): %w", t.sequence.Load(), reports, err, context.Cause(ctx)) //nolint:errorlint // err may be nil
		}
	}
}

// allServe reports whether the newest generation is complete, serves the sequence number, and is
// the only one that accepts connections.
func allServe(workers []nginx.Worker, reports []WorkerReport, sequence uint64) bool {
	byPID := make(map[int]WorkerReport, len(reports))
	newest := WorkerReport{}
	for _, s := range reports {
		byPID[s.PID] = s
		if s.Generation > newest.Generation {
			newest = s
		}
	}
	serving := 0
	for _, worker := range workers {
		if worker.Draining {
			continue
		}
		s, reported := byPID[worker.PID]
		if !reported || s.Generation != newest.Generation || s.Backends < sequence {
			return false
		}
		serving++
	}
	return serving > 0 && serving == newest.Workers
}
