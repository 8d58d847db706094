// Command subjecttable prints the results of scenarios with several subjects side by side, in Markdown.
// It reads DIR/SCENARIO/result.json. Lines of its standard input name subjects that were left out.
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel.dev/internal/markdown"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: subjecttable DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "subjecttable:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*", "result.json"))
	if err != nil {
		return err
	}
	slices.Sort(files)
	var reasons []string
	for _, file := range files {
		result, err := printScenario(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, reason := range notApplicable(result) {
			if !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	fmt.Printf("## What does not apply\n\n%s\n\n", strings.Join(reasons, "\n"))
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Printf("Left out: %s.\n", markdown.Text(lines.Text()))
	}
	return nil
}

func printScenario(path string) (measure.Result, error) {
	file, err := os.Open(path)
	if err != nil {
		return measure.Result{}, err
	}
	defer file.Close()
	result, checks, err := report.ReadJSON(file)
	if err != nil {
		return result, err
	}
	fmt.Printf("## %s\n\n%s\n\n", result.Run.Scenario, markdown.Text(result.Run.Summary))
	line := func(cells []string) { fmt.Println("| " + strings.Join(cells, " | ") + " |") }
	header, rule := []string{""}, []string{"---"}
	for _, s := range result.Subjects {
		header, rule = append(header, markdown.Text(s.Name)), append(rule, "---")
	}
	line(header)
	line(rule)
	for _, r := range rows {
		cells := []string{r.label}
		for _, s := range result.Subjects {
			cells = append(cells, r.cell(s))
		}
		line(cells)
	}
	cells := []string{"expectations met, not met, not applicable"}
	for _, s := range result.Subjects {
		cells = append(cells, verdicts(s.Name, checks))
	}
	line(cells)
	fmt.Println()
	return result, nil
}

// notApplicable explains the dashes in a table, with a line for each reason.
func notApplicable(result measure.Result) (lines []string) {
	for _, s := range result.Subjects {
		for _, n := range s.NotApplicable {
			lines = append(lines, fmt.Sprintf("* %s: `%s`: %s.", markdown.Text(s.Name), strings.Join(n.Measurements, "`, `"), markdown.Text(n.Why)))
		}
	}
	return lines
}

// rows are the rows of each table.
var rows = []struct {
	label string
	cell  func(measure.Subject) string
}{
	{"first convergence p50 / max", func(s measure.Subject) string { return times(s.Converge.First) }},
	{"last convergence p50 / max", func(s measure.Subject) string { return times(s.Converge.Last) }},
	{"changes not served in time", func(s measure.Subject) string { return fmt.Sprintf("%d of %d", s.Changes.Unconverged, s.Changes.Made) }},
	{"reloads", figure("reloads")},
	{"requests failed", func(s measure.Subject) string { return fmt.Sprintf("%d of %d", s.Requests.Failed, s.Requests.Sent) }},
	{"hidden retries", figure("requests.retries")},
	{"sockets opened", figure("requests.sockets")},
	{"latency p50", figure("requests.latency.p50")},
	{"latency p99", figure("requests.latency.p99")},
	{"generations alive at once", figure("workers.alive")},
	{"peak memory of the proxy", figure("memory.peakRSS")},
	{"CPU of the controller", figure("cpu.controller")},
	{"CPU of the proxy", figure("cpu.nginx")},
	{"run is valid", func(s measure.Subject) string {
		if s.Valid {
			return "yes"
		}
		return "no: " + markdown.Text(strings.Join(s.Invalid, "; "))
	}},
}

func times(d measure.Durations) string {
	if d.N == 0 {
		return "none was served"
	}
	return report.Seconds(d.P50.Seconds()) + " / " + report.Seconds(d.Max.Seconds())
}

// figure returns the cell of a figure: a dash if it does not apply, or was not measured.
func figure(name string) func(measure.Subject) string {
	all := measure.Figures()
	f := all[slices.IndexFunc(all, func(f measure.Figure) bool { return f.Name == name })]
	return func(s measure.Subject) string {
		value, ok := f.Of(s)
		switch {
		case !ok:
			return "–"
		case f.Kind == measure.Time:
			return report.Seconds(value)
		case f.Kind == measure.Bytes:
			return report.Bytes(value)
		}
		return fmt.Sprint(int(value))
	}
}

// verdicts returns the counts of the verdicts on a subject's expectations.
func verdicts(subject string, checks []judge.Check) string {
	count := map[judge.Verdict]int{}
	for _, c := range checks {
		if c.Subject == subject {
			count[c.Verdict()]++
		}
	}
	return fmt.Sprintf("%d, %d, %d", count[judge.Met], count[judge.NotMet], count[judge.NotApplicable])
}
