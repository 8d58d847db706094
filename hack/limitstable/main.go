// Command limitstable prints a Markdown page of the values at which limits are reached. It reads the sweeps
// of studies/limits in DIR/NAME, with the folders of their runs. All figures come from these runs and from
// the defaults of the controller.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: limitstable DIR")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "limitstable:", err)
		os.Exit(1)
	}
}

// intro is the text before the tables.
const intro = `# Where limits end

` + "`hack/studies limits`" + ` writes this page. Each limit was reached in runs of real nginx, with settings smaller
than the default where the default is far away. *Computed* ends lie on the line through the measured ones.
A limit ends at the largest size that had no symptom. Void runs are left out, but for those that
are void because the webhook denied what they write. [environment.txt](environment.txt) describes the
machine.

`

// write prints the page: a row for each limit, and then the measurements for each value of its setting.
func write(w io.Writer, dir string) error {
	fmt.Fprint(w, intro)
	fmt.Fprintln(w, "| limit | default | ends at | first symptom for clients | what the controller or nginx says | what to set |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	var measured []finding
	for _, l := range limits {
		runs, err := readSweep(filepath.Join(dir, l.study))
		if errors.Is(err, errUnfinished) {
			measured = append(measured, finding{})
			fmt.Fprintf(w, "| %s | | not measured: `hack/limits %s` | | | %s |\n", l.what, l.study, l.set)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.study, err)
		}
		found, err := l.find(runs)
		if err != nil {
			return fmt.Errorf("%s: %w", l.study, err)
		}
		measured = append(measured, found)
		fmt.Fprintf(w, "| %s |\n", strings.Join([]string{l.what, found.standard, found.ends, found.client, found.said, l.set}, " | "))
	}
	fmt.Fprintf(w, "\n## Measurements\n\n| sweep | setting | largest size without a symptom | smallest size with one | run |\n|---|---|---|---|---|\n")
	for i, l := range limits {
		for _, p := range measured[i].points {
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", l.study, p.setting, p.good, p.bad, p.outcome)
		}
	}
	return nil
}
