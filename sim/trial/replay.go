package trial

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
)

// SameChanges compares the changes of two runs up to the end of the shorter one: either may have been
// cut short. It returns how many it compared, and an error that names the first change that differs.
func SameChanges(before, now []event.Change) (compared int, err error) {
	for i := range min(len(before), len(now)) {
		if !reflect.DeepEqual(before[i], now[i]) {
			return i, fmt.Errorf("change %d was of %s, and is %d of %s", before[i].ID, before[i].Object, now[i].ID, now[i].Object)
		}
	}
	return min(len(before), len(now)), nil
}

// Override gives every subject of a scenario flags and keys of its ConfigMap, over its own.
func Override(s *scenario.Scenario, flags, config map[string]string) {
	for i := range s.Subjects {
		s.Subjects[i].Flags = scenario.Over(s.Subjects[i].Flags, flags)
		s.Subjects[i].Config = scenario.Over(s.Subjects[i].Config, config)
	}
}

// recordingFile is the name of the copy of a recording in the folder of its replay. The original name may be
// that of another file in the folder.
const recordingFile = "recording.jsonl"

// WriteRecorded writes a scenario file of a recording, with a copy of the recording beside
// it, into dir, and returns the path of the file. Recorded pods keep serving for drain after they
// leave their service.
func WriteRecorded(dir, recording string, drain time.Duration) (path string, err error) {
	length, changes, err := keep(recording, filepath.Join(dir, recordingFile))
	if err != nil {
		return "", fmt.Errorf("%s: %w", recording, err)
	}
	name := scenario.NameFrom(recording, "recording", filepath.Ext(recording))
	text := fmt.Sprintf(recorded, name, recordingFile, length.Truncate(time.Second)+time.Second, drain)
	if changes > 0 { // without changes, the expectation would have no data, and fail
		text += "  - changes.unconverged == 0\n"
	}
	path = rundir.Dir(dir).File(rundir.Scenario)
	return path, os.WriteFile(path, []byte(text), 0o644)
}

// keep copies a recording that can be replayed, and returns its length and the number of its changes. It
// reads it once, because a recording may be a pipe.
func keep(recording, to string) (length time.Duration, changes int, err error) {
	file, err := readfile.Open(recording)
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	copied, err := os.Create(to)
	if err != nil {
		return 0, 0, err
	}
	read, err := churn.Read(io.TeeReader(file, copied))
	err = errors.Join(err, copied.Close())
	switch {
	case err != nil:
		return 0, 0, err
	case len(read.Population.Services) == 0 || len(read.Population.Ingresses) == 0:
		return 0, 0, errors.New("it has no service, or no host for requests; record namespaces with services and ingresses")
	case read.Length >= scenario.LongestTime:
		return 0, 0, fmt.Errorf("it is %v long; at most %v (31 days) can be replayed", read.Length, scenario.LongestTime)
	}
	return read.Length, len(read.Changes), nil
}

// recorded is the scenario of a recording.
const recorded = `# What was recorded in a cluster, again.
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: %s}
spec:
  summary: The recorded changes, as every worker and every client sees them.
  population: {recording: %q}
  traffic:
  - {lane: http, rate: 70/s}
  - {lane: post, rate: 30/s}
  timeline:
  - {at: 0s, churn: recorded, for: %v, drain: %v}
  expect:
  - changes.failed == 0
  - requests.unexplained == 0
`
