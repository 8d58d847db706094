package report

import (
	"encoding/json"
	"fmt"
	"io"

	"windtunnel.dev/sim/measure"
)

// ReadJSON reads what JSON has written. Fields that this version does not know
// are an error: a result of another schema is not half understood.
func ReadJSON(r io.Reader) (measure.Result, []Outcome, error) {
	var read Document
	in := json.NewDecoder(r)
	in.DisallowUnknownFields()
	if err := in.Decode(&read); err != nil {
		return measure.Result{}, nil, fmt.Errorf("reading the result: %w", err)
	}
	if read.Schema != measure.Schema {
		return measure.Result{}, nil, fmt.Errorf("the result is of schema %q, this program reads %q; make it again with windtunnel report", read.Schema, measure.Schema)
	}
	return read.Result, read.Outcomes, nil
}
