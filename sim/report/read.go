package report

import (
	"encoding/json"
	"fmt"
	"io"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
)

// ReadJSON parses the output of JSON. Fields that this version does not know are an error, so that
// a result of another schema is rejected instead of being read in part.
func ReadJSON(r io.Reader) (measure.Result, []judge.Check, error) {
	var read Document
	in := json.NewDecoder(r)
	in.DisallowUnknownFields()
	if err := in.Decode(&read); err != nil {
		return measure.Result{}, nil, fmt.Errorf("reading the result: %w", err)
	}
	if read.Schema != measure.Schema {
		return measure.Result{}, nil, fmt.Errorf("the result is of schema %q, this program reads %q; recompute it with windtunnel report", read.Schema, measure.Schema)
	}
	return read.Result, read.Checks, nil
}
