package main

import (
	"errors"
	"io"
	"testing"
)

// full is a writer that always fails, like a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A report that cannot be written is an error, whatever it says.
func TestDoctorReportsThatItCannotWrite(t *testing.T) {
	for _, format := range []string{textFormat, jsonFormat} {
		if code := Main(t.Context(), []string{"doctor", "--format", format}, full{}, io.Discard); code != exitBadInput {
			t.Errorf("%s: exit code %d, want %d", format, code, exitBadInput)
		}
	}
}
