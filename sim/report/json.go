package report

import (
	"encoding/json"
	"io"
)

// Indented writes a value as indented JSON, with <, > and & as they are.
func Indented(w io.Writer, value any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(value)
}
