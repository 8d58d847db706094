package plan

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"windtunnel.dev/controller/wire"
)

// whyPost lists the backends and endpoints that were added, removed or changed. If there are none,
// the reason is that a reload empties the dictionary.
func whyPost(dict string, running, next State, told, wanted wire.List) []Why {
	if !told.IsSent() {
		return []Why{{New: "first backends"}}
	}
	if running.Unsure {
		return []Why{{New: "backends that nginx may have lost in a reload that failed halfway"}}
	}
	if told.Equal(wanted) {
		return []Why{{Old: dictsOf(running.Conf)[dict], New: dictsOf(next.Conf)[dict]}}
	}
	var whys []Why
	for _, change := range wanted.Since(told) {
		switch {
		case change.Before == nil:
			whys = append(whys, Why{New: "backend " + change.Name})
		case change.After == nil:
			whys = append(whys, Why{Old: "backend " + change.Name})
		default:
			whys = append(whys, whyChanged(change.Name, change.Before, change.After)...)
		}
	}
	if len(whys) == 0 {
		whys = append(whys, Why{New: "the same backends and endpoints in another order"})
	}
	return bounded(whys)
}

// whyChanged lists the differences between two versions of a backend.
func whyChanged(name string, before, after []byte) []Why {
	old, err := fieldsOf(before)
	new, newErr := fieldsOf(after)
	if err := cmp.Or(err, newErr); err != nil {
		return []Why{{New: name + " is not a JSON object: " + err.Error()}}
	}
	return compareAt(block{}, old.describe(name, new), new.describe(name, old))
}

// fields are the members of a JSON object.
type fields []field

type field struct {
	name  string
	value []byte
}

func fieldsOf(object []byte) (fields, error) {
	// The encoder never writes duplicate names, so the decoder need not detect them.
	decoder := jsontext.NewDecoder(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true))
	if begin, err := decoder.ReadToken(); err != nil || begin.Kind() != '{' {
		return nil, cmp.Or(err, errors.New("it does not begin with {"))
	}
	all := make(fields, 0, 16) // most backends have fewer
	for decoder.PeekKind() == '"' {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		one := field{name: name.String()}
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		end := int(decoder.InputOffset())
		one.value = object[end-len(value) : end]
		all = append(all, one)
	}
	_, err := decoder.ReadToken()
	return all, err
}

// describe formats the fields that differ from other as lines: one per endpoint, and one per other
// field.
func (f fields) describe(backend string, other fields) []string {
	var lines, endpoints []string
	for _, one := range f {
		switch {
		case slices.ContainsFunc(other, one.equal):
		case one.name == "endpoints":
			endpoints = one.endpoints(backend)
		default:
			lines = append(lines, fmt.Sprintf("%s.%s %s", backend, one.name, one.value))
		}
	}
	slices.Sort(lines)
	return append(lines, endpoints...)
}

func (f field) equal(other field) bool {
	return f.name == other.name && bytes.Equal(f.value, other.value)
}

// endpoints formats a list of endpoints.
func (f field) endpoints(backend string) []string {
	var all []struct {
		Address string `json:"address"`
		Port    string `json:"port"`
	}
	if err := json.Unmarshal(f.value, &all); err != nil {
		return []string{backend + " endpoint unreadable: " + err.Error()}
	}
	var lines []string
	for _, e := range all {
		lines = append(lines, backend+" endpoint "+e.Address+":"+e.Port)
	}
	return lines
}
