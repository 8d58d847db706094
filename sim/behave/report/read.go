package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// ReadJSON parses the output of JSON.
func ReadJSON(r io.Reader) (Document, error) {
	var read Document
	if err := json.NewDecoder(r).Decode(&read); err != nil {
		return Document{}, fmt.Errorf("reading the result: %w", err)
	}
	if read.Schema != Schema {
		return Document{}, fmt.Errorf("the result is of schema %q, this program reads %q", read.Schema, Schema)
	}
	return read, nil
}
