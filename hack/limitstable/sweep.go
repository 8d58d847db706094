package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/subject"
	"windtunnel.dev/sim/sweep"
)

// run is one run of a sweep, with the measurements of its only subject.
type run struct {
	value   string // of the sweep's factor
	outcome string // passed or failed
	dir     string // folder with the subject's logs
	start   time.Time
	events  []event.Event // of the subject
	result  measure.Subject
}

// errUnfinished is the error of a sweep without a finished run that is not void.
var errUnfinished = errors.New("no run is finished")

// readSweep reads the finished runs of a sweep, in the order of its values. It leaves out void runs, which
// say nothing about a limit, unless the only reason is that the webhook denied their writes.
func readSweep(dir string) ([]run, error) {
	text, err := os.ReadFile(filepath.Join(dir, rundir.Result))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errUnfinished
	}
	if err != nil {
		return nil, err
	}
	var doc sweep.Document
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", rundir.Result, err)
	}
	if len(doc.Design.Factors) != 1 {
		return nil, fmt.Errorf("%s: a sweep of %d factors, not of one", rundir.Result, len(doc.Design.Factors))
	}
	var runs []run
	for _, r := range doc.Runs {
		one, err := readRun(filepath.Join(dir, r.Dir))
		if err != nil {
			return nil, err
		}
		if r.Outcome == judge.Void && !one.onlyDenied() {
			continue
		}
		one.value, one.outcome = r.Combination.ValueOf(doc.Design.Factors[0]), string(r.Outcome)
		runs = append(runs, one)
	}
	if len(runs) == 0 {
		return nil, errUnfinished
	}
	return runs, nil
}

// readRun reads the log of a run.
func readRun(dir string) (run, error) {
	file, err := os.Open(rundir.Dir(dir).File(rundir.Events))
	if err != nil {
		return run{}, err
	}
	defer file.Close()
	var r run
	var all []event.Event
	for e, err := range event.Read(file) {
		if err != nil {
			return run{}, fmt.Errorf("%s: %w", file.Name(), err)
		}
		all = append(all, e)
		switch {
		case e.Run != nil:
			r.start = e.Run.Start
		case e.Subject != "":
			r.events = append(r.events, e)
		}
	}
	result, _, err := measure.From(func(yield func(event.Event, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		return run{}, fmt.Errorf("%s: %w", file.Name(), err)
	}
	if len(result.Subjects) != 1 {
		return run{}, fmt.Errorf("%s: %d subjects, not one", file.Name(), len(result.Subjects))
	}
	r.result = result.Subjects[0]
	r.dir = filepath.Join(dir, r.result.Name)
	return r, nil
}

// denial matches the error of a write that a validating webhook denied, as kube-apiserver words it.
var denial = regexp.MustCompile(`^writing .*: admission webhook "[^"]+" denied the request: `)

// onlyDenied reports whether the run is void for no other reason than writes that the webhook denied.
func (r run) onlyDenied() bool {
	refused := 0
	for _, e := range r.events {
		if e.Written == nil || e.Written.Error == "" {
			continue
		}
		if !denial.MatchString(e.Written.Error) {
			return false
		}
		refused++
	}
	return refused > 0 && len(r.result.Invalid) == 1
}

// nginxLog is the file name of nginx's log in a subject's folder.
const nginxLog = "error.log"

// line returns the first line of one of the subject's logs that matches; empty if there is none.
func (r run) line(name string, pattern *regexp.Regexp) (string, error) {
	file, err := os.Open(filepath.Join(r.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if pattern.MatchString(lines.Text()) {
			return lines.Text(), nil
		}
	}
	return "", lines.Err()
}

// said returns the first matching lines of the logs of the controller and nginx, without times and
// process IDs.
func (r run) said(pattern *regexp.Regexp) (string, error) {
	var all []string
	for _, log := range []struct{ name, who string }{{subject.LogName, "controller"}, {nginxLog, "nginx"}} {
		line, err := r.line(log.name, pattern)
		if err != nil {
			return "", err
		}
		if line != "" {
			all = append(all, log.who+": "+code(shorten(plain(line))))
		}
	}
	return strings.Join(all, "; "), nil
}

// nginxPrefix matches the prefix of a line of nginx's log. Its first group is the level.
var nginxPrefix = regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d (\[\w+\]) \d+#\d+: (\*\d+ )?`)

// plain returns the text of a log line: the message of a JSON record with its details, or nginx's
// level and message without the context.
func plain(line string) string {
	var record map[string]any
	if json.Unmarshal([]byte(line), &record) == nil {
		text, _ := record["msg"].(string)
		for _, key := range []string{"what", "error", "reason"} {
			if value, ok := record[key].(string); ok {
				text += ": " + value
			}
		}
		return text
	}
	text := nginxPrefix.ReplaceAllString(line, "$1 ")
	text, _, _ = strings.Cut(text, ", client: ")
	text, _, _ = strings.Cut(text, ", context: ")
	return text
}

// longestText is the maximum length of a log text in a cell, in characters.
const longestText = 160

func shorten(text string) string {
	all := []rune(text)
	if len(all) <= longestText {
		return text
	}
	return string(all[:longestText-1]) + "…"
}
