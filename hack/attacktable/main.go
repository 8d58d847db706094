// Command attacktable reads the rows of an attack run from standard input, one JSON object per
// line, and prints them as a Markdown table sorted by target.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"windtunnel.dev/attack"
)

func main() {
	if err := table(os.Stdout, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "attacktable:", err)
		os.Exit(1)
	}
}

func table(w io.Writer, r io.Reader) error {
	var rows []attack.Row
	for decoder := json.NewDecoder(r); ; {
		var row attack.Row
		if err := decoder.Decode(&row); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("row %d: %w", len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b attack.Row) int { return strings.Compare(a.Target, b.Target) })
	fmt.Fprintln(w, "| target | attack | tried | succeeded | a success would be | note |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	for _, row := range rows {
		cells := []string{row.Target, row.Attack, strconv.Itoa(row.Tried), strconv.Itoa(row.Landed), row.Success, row.Note}
		for i, cell := range cells {
			cells[i] = strings.ReplaceAll(cell, "|", `\|`)
		}
		fmt.Fprintln(w, "| "+strings.Join(cells, " | ")+" |")
	}
	return nil
}
