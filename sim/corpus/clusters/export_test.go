package clusters

import "fmt"

// Rows returns the rows about the generator in docs/corpus.md.
func Rows() []string {
	var rows []string
	for _, f := range features {
		of := f.Fits
		if of == "" {
			of = "all"
		}
		rows = append(rows, fmt.Sprintf("| %s | %g %% | %s |", f.Name, f.Percent, of))
	}
	for _, m := range mistakes {
		rows = append(rows, "- "+m.Name)
	}
	for _, c := range configs {
		rows = append(rows, "- "+c.Name)
	}
	return rows
}

// Mistakes returns the names of all mistakes.
func Mistakes() []string {
	var names []string
	for _, m := range mistakes {
		names = append(names, m.Name)
	}
	return names
}
