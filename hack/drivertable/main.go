// Command drivertable prints the results of the same scenarios on several drivers
// side by side, in Markdown. It reads DIR/DRIVER/SCENARIO/result.json.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"windtunnel.dev/sim/measure"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: drivertable DIR DRIVER,DRIVER… SCENARIO…")
		os.Exit(2)
	}
	dir, drivers := os.Args[1], strings.Split(os.Args[2], ",")
	fmt.Println("| scenario | subject | driver | reloads | last convergence p50 / max | requests | lost, by cause | valid |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, scenario := range os.Args[3:] {
		for _, row := range rows(dir, drivers, scenario) {
			fmt.Println("| " + strings.Join(row, " | ") + " |")
		}
	}
}

// rows returns the rows of a scenario, with the drivers of each subject below each other.
func rows(dir string, drivers []string, scenario string) [][]string {
	var all [][]string
	order := map[string]int{} // subjects, in order of appearance
	for _, driver := range drivers {
		subjects, err := read(filepath.Join(dir, driver, scenario, "result.json"))
		if err != nil {
			all = append(all, []string{scenario, "", driver, "", "", "", why(filepath.Join(dir, driver, scenario, "why.txt"), err), ""})
			continue
		}
		for n, s := range subjects {
			order[s.Name] = n
			all = append(all, []string{scenario, s.Name, driver, fmt.Sprint(s.Reloads), last(s), fmt.Sprint(s.Requests.Sent), lost(s), valid(s)})
		}
	}
	slices.SortStableFunc(all, func(a, b []string) int { return order[a[1]] - order[b[1]] })
	return all
}

func read(path string) ([]measure.Subject, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var result measure.Result
	if err := json.Unmarshal(text, &result); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return result.Subjects, nil
}

// why returns the error that the run reported instead of a result.
func why(path string, err error) string {
	text, unsaid := os.ReadFile(path)
	if unsaid != nil {
		return err.Error()
	}
	return strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", " ")
}

func last(s measure.Subject) string {
	c := s.Converge.Last
	if c.N == 0 {
		return "none to see"
	}
	return fmt.Sprintf("%v / %v", c.P50.Round(10*time.Millisecond), c.Max.Round(10*time.Millisecond))
}

func lost(s measure.Subject) string {
	var causes []string
	for _, cause := range slices.Sorted(maps.Keys(s.Requests.Causes)) {
		if n := s.Requests.Causes[cause]; n > 0 {
			causes = append(causes, fmt.Sprintf("%d %s", n, cause))
		}
	}
	if len(causes) == 0 {
		return "0"
	}
	return strings.Join(causes, ", ")
}

func valid(s measure.Subject) string {
	if s.Valid {
		return "yes"
	}
	return "no: " + strings.Join(s.Invalid, "; ")
}
