package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

var servedAt = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+/[A-Z0-9]+/`)

// watched starts a command that serves its run, watches it as a browser does until there are requests,
// changes and a log, ends it with the button of the page, and checks that the page gets the outcome and
// the command ends as by an interrupt: watched COMMAND…
func watched(ts *testscript.TestScript, neg bool, args []string) {
	c := start(ts, args)
	var url string
	c.await("no URL", func() bool {
		text, _ := os.ReadFile(c.stderr)
		url = servedAt.FindString(string(text))
		return url != ""
	})
	answer, err := http.Get(url + "events")
	ts.Check(err)
	defer answer.Body.Close()
	var requests, bins, logged int
	asked := false
	lines := bufio.NewReader(answer.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			ts.Fatalf("the page lost the run, after %d requests: %v; stderr:\n%s", requests, err, ts.ReadFile(c.stderr))
		}
		text, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var update struct {
			Status   struct{ Subjects []struct{ Requests int } }
			Subjects []struct {
				Bins []struct{ Requests int }
				Log  []string
			}
			Result *struct{ Outcome, Report string }
		}
		ts.Check(json.Unmarshal([]byte(text), &update))
		requests = update.Status.Subjects[0].Requests
		bins += len(update.Subjects[0].Bins)
		logged += len(update.Subjects[0].Log)
		if update.Result != nil {
			if update.Result.Outcome != "interrupted" || !strings.HasSuffix(update.Result.Report, "report.html") || !asked {
				ts.Fatalf("the page got the end %+v", update.Result)
			}
			break
		}
		if !asked && requests > 0 && bins > 0 && logged > 0 {
			asked = true
			answer, err := http.Post(url+"end", "", nil)
			ts.Check(err)
			answer.Body.Close()
			if answer.StatusCode != http.StatusAccepted {
				ts.Fatalf("the button got the status %d", answer.StatusCode)
			}
		}
	}
	c.endsInterrupted()
}
