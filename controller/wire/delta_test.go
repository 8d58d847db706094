package wire_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"windtunnel.dev/controller/wire"
)

// list returns a List of backends with the given JSON.
func list(t *testing.T, encoded ...string) wire.List {
	t.Helper()
	return wire.NewList(decoded(t, encoded...)...)
}

func decoded(t *testing.T, encoded ...string) []*wire.Backend {
	t.Helper()
	var l []*wire.Backend
	for _, text := range encoded {
		var b struct{ Name string }
		if err := json.Unmarshal([]byte(text), &b); err != nil {
			t.Fatal(err)
		}
		l = append(l, &wire.Backend{Name: b.Name, JSON: []byte(text)})
	}
	return l
}

func TestDelta(t *testing.T) {
	a, b, c := `{"name":"a"}`, `{"name":"b"}`, `{"name":"c"}`
	for name, test := range map[string]struct {
		before, after []string
		want          string
	}{
		"nothing":      {[]string{a, b}, []string{a, b}, `{"changed":[],"removed":[]}`},
		"another one":  {[]string{a}, []string{a, `{"name":"b","port":1}`}, `{"changed":[{"name":"b","port":1}],"removed":[]}`},
		"one the less": {[]string{a, b, c}, []string{a, c}, `{"changed":[],"removed":["b"]}`},
		"a change":     {[]string{a, b}, []string{`{"name":"a","port":2}`, b}, `{"changed":[{"name":"a","port":2}],"removed":[]}`},
		"their order":  {[]string{a, b, c}, []string{c, b, a}, `{"changed":[],"removed":[]}`},
		"all gone":     {[]string{`{"name":"a\"}"}`, b}, nil, `{"changed":[],"removed":["a\"}","b"]}`},
		"the first":    {nil, []string{a}, `{"changed":[{"name":"a"}],"removed":[]}`},
	} {
		got, err := list(t, test.after...).Delta(list(t, test.before...))
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got %s (%v), want %s", name, got, err, test.want)
		}
	}
}

// follow applies a delta to backends, as Lua does.
func follow(t *testing.T, known map[string]string, text []byte) {
	t.Helper()
	var d struct {
		Changed []json.RawMessage
		Removed []string
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for _, name := range d.Removed {
		delete(known, name)
	}
	for _, b := range decoded(t, texts(d.Changed)...) {
		known[b.Name] = string(b.JSON)
	}
}

func texts(raw []json.RawMessage) []string {
	var all []string
	for _, text := range raw {
		all = append(all, string(text))
	}
	return all
}

func TestDeltasMatchFullLists(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 7))
	wanted, followed, before := map[string]string{}, map[string]string{}, wire.List{}
	for range 500 {
		for range random.IntN(4) {
			name := fmt.Sprint("backend-", random.IntN(12))
			if random.IntN(3) == 0 {
				delete(wanted, name)
			} else {
				wanted[name] = fmt.Sprintf(`{"name":%q,"port":%d}`, name, random.IntN(3))
			}
		}
		now := list(t, slices.Sorted(maps.Values(wanted))...)
		d, err := now.Delta(before)
		if err != nil {
			t.Fatal(err)
		}
		if follow(t, followed, d); !maps.Equal(followed, wanted) {
			t.Fatalf("%s leads to %v, want %v", d, followed, wanted)
		}
		before = now
	}
}
