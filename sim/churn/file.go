package churn

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/corpus"
)

// Schema names the version of the file format. A file has a header line and one line per change,
// all in JSON.
const Schema = "windtunnel.dev/recording/v1"

// Recording is a population and its changes.
type Recording struct {
	Population corpus.Population
	Stream
	Left map[string]int // counts of what was left out, by its description
}

// longest is the maximum length of a line for Read, in bytes. The whole population is on one line.
const longest = 256 << 20

type header struct {
	Schema     string            `json:"schema"`
	Length     time.Duration     `json:"length"` // nanoseconds
	Changes    int               `json:"changes"`
	Left       map[string]int    `json:"left,omitempty"`
	Population corpus.Population `json:"population"`
}

// Write writes a recording in the format of Read.
func Write(w io.Writer, r Recording) error {
	buffered := bufio.NewWriter(w)
	encoder := json.NewEncoder(buffered)
	if err := encoder.Encode(header{Schema, r.Length, len(r.Changes), r.Left, r.Population}); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	for _, change := range r.Changes {
		if err := encoder.Encode(change); err != nil {
			return fmt.Errorf("write recording: change %d: %w", change.ID, err)
		}
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	return nil
}

// Read reads a recording. It returns an error if the file is cut short, or if its changes are not
// in order or do not fit the population. Errors give the line.
func Read(r io.Reader) (Recording, error) {
	buffered := bufio.NewReader(r)
	if first, err := buffered.Peek(1); err == nil && first[0] != '{' { // do not search a large file for its first line
		return Recording{}, errors.New("read recording: line 1: it does not begin with {, so it is not the header of a recording")
	}
	lines := bufio.NewScanner(buffered)
	lines.Buffer(nil, longest)
	var read reader
	for lines.Scan() {
		read.line++
		if err := read.add(lines.Bytes()); err != nil {
			return Recording{}, fmt.Errorf("read recording: line %d: %w", read.line, err)
		}
	}
	if err := lines.Err(); err != nil {
		return Recording{}, fmt.Errorf("read recording: line %d: %w", read.line+1, err)
	}
	if read.line == 0 {
		return Recording{}, errors.New("read recording: line 1: the file is empty; a recording starts with a header")
	}
	if len(read.Changes) != read.changes {
		return Recording{}, fmt.Errorf("read recording: line %d: the file ends after %s, but its header gives %d; copy it or record it again",
			read.line, plural.Of(len(read.Changes), "change"), read.changes)
	}
	return read.Recording, nil
}

// reader is the progress of reading a file.
type reader struct {
	Recording
	line    int
	changes int                        // number of changes according to the header
	members map[string]map[string]bool // pods by service, after the last change
}

// add reads a line.
func (r *reader) add(data []byte) error {
	if r.line == 1 {
		return r.head(data)
	}
	var c Change
	if err := decode(data, &c); err != nil {
		return err
	}
	if err := r.follows(c); err != nil {
		return err
	}
	if err := r.fits(c); err != nil {
		return err
	}
	r.Changes = append(r.Changes, c)
	return nil
}

func (r *reader) head(data []byte) error {
	var head header
	if err := decode(data, &head); err != nil {
		return err
	}
	if head.Schema != Schema {
		return fmt.Errorf("schema %q; this version only reads %s", head.Schema, Schema)
	}
	if head.Length < 0 {
		return fmt.Errorf("length %v is below zero", head.Length)
	}
	r.Length, r.changes, r.Left, r.Population = head.Length, head.Changes, head.Left, head.Population
	r.members = map[string]map[string]bool{}
	for _, service := range r.Population.Services {
		if r.members[service.Key()] != nil {
			return fmt.Errorf("service %s is in the population twice", service.Key())
		}
		r.members[service.Key()] = map[string]bool{}
		for _, pod := range service.Pods {
			r.members[service.Key()][pod] = true
		}
	}
	return r.routes()
}

// routes returns an error if an ingress of the population routes nowhere.
func (r *reader) routes() error {
	p := r.Population
	for _, ingress := range p.Ingresses {
		if len(ingress.Paths) == 0 {
			return fmt.Errorf("ingress %s of the population has no path", ingress.Name)
		}
		for _, path := range ingress.Paths {
			if service := (corpus.Service{Namespace: p.Namespace, Name: path.Service}); r.members[service.Key()] == nil {
				return fmt.Errorf("ingress %s routes to %s, which is not in the population", ingress.Name, service.Key())
			}
		}
	}
	return nil
}

// decode decodes a line that has exactly one JSON value.
func decode(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the line is cut off, so the file is incomplete; copy it or record it again")
	} else if err != nil {
		return err
	}
	if decoder.More() {
		return errors.New("more than one value; write one per line")
	}
	return nil
}

// follows returns an error if a change is not valid as the next one of the stream.
func (s Stream) follows(c Change) error {
	last := Change{}
	if len(s.Changes) > 0 {
		last = s.Changes[len(s.Changes)-1]
	}
	switch {
	case c.ID <= last.ID:
		return fmt.Errorf("change %d after change %d; IDs start at 1 and increase", c.ID, last.ID)
	case c.At < last.At:
		return fmt.Errorf("change %d at %v, before the previous one; sort them by time", c.ID, c.At)
	case c.At > s.Length:
		return fmt.Errorf("change %d at %v, after the end of the stream at %v", c.ID, c.At, s.Length)
	case c.Service == "":
		return fmt.Errorf("change %d without a service", c.ID)
	case slices.Contains(c.Add, "") || slices.Contains(c.Remove, ""):
		return fmt.Errorf("change %d has a pod without a name", c.ID)
	case c.Paths < 0:
		return fmt.Errorf("change %d has %d paths; make it 0 or more", c.ID, c.Paths)
	case c.Paths > 0 && c.Host == "":
		return fmt.Errorf("change %d has paths, but no host", c.ID)
	case c.Touch != "" && c.Touch != Slice && c.Touch != Labels && c.Touch != Ingress:
		return fmt.Errorf("change %d touches %q; there are %s, %s and %s", c.ID, c.Touch, Slice, Labels, Ingress)
	}
	if kinds := count(len(c.Add)+len(c.Remove) > 0, c.Host != "", c.Touch != ""); kinds != 1 {
		return fmt.Errorf("change %d does %s; give it pods, a host or something to touch", c.ID, plural.Of(kinds, "thing"))
	}
	return nil
}

// fits applies a change to the current members of its service. It returns an error if it does not
// fit them.
func (r *reader) fits(c Change) error {
	members := r.members[c.Service]
	if members == nil {
		return fmt.Errorf("change %d is of %s, which is not in the population", c.ID, c.Service)
	}
	for _, pod := range c.Remove {
		if !members[pod] {
			return fmt.Errorf("change %d removes %s, which %s does not have", c.ID, pod, c.Service)
		}
		delete(members, pod)
	}
	for _, pod := range c.Add {
		if members[pod] || slices.Contains(c.Remove, pod) {
			return fmt.Errorf("change %d adds %s, which %s already has", c.ID, pod, c.Service)
		}
		members[pod] = true
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
