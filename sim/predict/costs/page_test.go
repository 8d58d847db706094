package costs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/figure"
	"windtunnel.dev/sim/predict/question"
	"windtunnel.dev/sim/predict/simulate"
)

// docs/predict.md has a row for each cost, as the simulation describes it, and names each figure and
// setting.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../../docs/predict.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	terms := map[string][]string{}
	for _, column := range costs.Columns() {
		cost, term, _ := strings.Cut(column, ".")
		terms[cost] = append(terms[cost], term)
	}
	for _, row := range simulate.Table {
		if want := fmt.Sprintf("| `%s` | %s | %s | %s |\n", row.Name, row.Unit, row.Doc, strings.Join(terms[row.Name], ", ")); !strings.Contains(page, want) {
			t.Errorf("docs/predict.md lacks the row %s", want)
		}
	}
	for _, name := range figure.Names() {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/predict.md does not name the figure %s", name)
		}
	}
	lanes := []string{"udp", "tcp", "tls", "sse", "slow", "grpc", "fresh", "http", "upload", "download"} // of docs/scenarios.md
	for _, name := range question.Settable() {
		isLane := false
		for _, lane := range lanes {
			isLane = isLane || strings.HasPrefix(name, lane)
		}
		if !isLane && !strings.Contains(page, name) {
			t.Errorf("docs/predict.md does not name the setting %s", name)
		}
	}
}
