package churn

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Schema names the version of the file format: a line that is a header, then a
// line for each change, all JSON.
const Schema = "windtunnel.dev/churn/v1"

// longest is the longest line that Read takes, in bytes.
const longest = 1 << 20

type header struct {
	Schema  string        `json:"schema"`
	Length  time.Duration `json:"length"` // nanoseconds
	Changes int           `json:"changes"`
}

// Write records the stream, for Read to replay.
func Write(w io.Writer, s Stream) error {
	buffered := bufio.NewWriter(w)
	encoder := json.NewEncoder(buffered)
	if err := encoder.Encode(header{Schema: Schema, Length: s.Length, Changes: len(s.Changes)}); err != nil {
		return fmt.Errorf("write churn: %w", err)
	}
	for _, change := range s.Changes {
		if err := encoder.Encode(change); err != nil {
			return fmt.Errorf("write churn: change %d: %w", change.ID, err)
		}
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write churn: %w", err)
	}
	return nil
}

// Read returns the stream that Write recorded. It refuses a file that was cut
// short, and one whose changes are not in order; errors name the line.
func Read(r io.Reader) (Stream, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	var s Stream
	var head header
	line := 0
	for lines.Scan() {
		line++
		if err := readLine(lines.Bytes(), line, &head, &s); err != nil {
			return Stream{}, fmt.Errorf("read churn: line %d: %w", line, err)
		}
	}
	if err := lines.Err(); err != nil {
		return Stream{}, fmt.Errorf("read churn: line %d: %w", line+1, err)
	}
	if line == 0 {
		return Stream{}, errors.New("read churn: line 1: the file is empty; a recorded stream starts with a header")
	}
	if len(s.Changes) != head.Changes {
		return Stream{}, fmt.Errorf("read churn: line %d: the file ends after %d changes, its header says %d; record it again",
			line, len(s.Changes), head.Changes)
	}
	return s, nil
}

func readLine(data []byte, line int, head *header, s *Stream) error {
	if line > 1 {
		var c Change
		if err := decode(data, &c); err != nil {
			return err
		}
		if err := s.follows(c); err != nil {
			return err
		}
		s.Changes = append(s.Changes, c)
		return nil
	}
	if err := decode(data, head); err != nil {
		return err
	}
	if head.Schema != Schema {
		return fmt.Errorf("schema %q; this version reads %s", head.Schema, Schema)
	}
	if head.Length < 0 {
		return fmt.Errorf("length %v is below zero", head.Length)
	}
	s.Length = head.Length
	return nil
}

// decode reads one JSON value that fills a line.
func decode(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if decoder.More() {
		return errors.New("more than one value; write one a line")
	}
	return nil
}

// follows says why a change cannot be the stream's next.
func (s Stream) follows(c Change) error {
	last := Change{}
	if len(s.Changes) > 0 {
		last = s.Changes[len(s.Changes)-1]
	}
	switch {
	case c.ID <= last.ID:
		return fmt.Errorf("change %d after change %d; IDs start at 1 and rise", c.ID, last.ID)
	case c.At < last.At:
		return fmt.Errorf("change %d at %v, before the one above it; sort them by time", c.ID, c.At)
	case c.At > s.Length:
		return fmt.Errorf("change %d at %v, after the end of the stream at %v", c.ID, c.At, s.Length)
	case c.Service == "":
		return fmt.Errorf("change %d without a service", c.ID)
	case c.Add == c.Remove && c.Add != "":
		return fmt.Errorf("change %d replaces pod %q by itself; name two pods", c.ID, c.Add)
	case c.Touch != "" && c.Touch != Slice && c.Touch != Labels && c.Touch != Ingress:
		return fmt.Errorf("change %d touches %q; there are %s, %s and %s", c.ID, c.Touch, Slice, Labels, Ingress)
	}
	if kinds := count(c.Add+c.Remove != "", c.Host != "", c.Touch != ""); kinds != 1 {
		return fmt.Errorf("change %d does %d things; give it pods, a host or something to touch", c.ID, kinds)
	}
	return nil
}

func count(all ...bool) (n int) {
	for _, one := range all {
		if one {
			n++
		}
	}
	return n
}
