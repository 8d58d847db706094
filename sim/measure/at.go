package measure

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// At returns the figure with a name. Besides those of Figures, by name or by unit, these are figures:
//   - any number of a subject, by its path: converge.way.sync.p50, cpu.nginx
//   - any number of a lane: lanes.post.failed
//   - the ratio of two figures: requests.failed/reloads; of several, divided from left to right
//
// The error of an unknown name says which names are valid.
func At(name string) (Figure, error) {
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		return ratio(name, name[:at], name[at+1:])
	}
	for _, f := range Figures() {
		if f.Name == name || f.Unit == name {
			return f, nil
		}
	}
	path, lane := name, ""
	if rest, ok := strings.CutPrefix(name, "lanes."); ok {
		if lane, path, ok = strings.Cut(rest, "."); !ok {
			return Figure{}, fmt.Errorf("%s is not a number; write lanes.LANE.FIELD, as in lanes.%s.failed", name, lane)
		}
	}
	t, err := numberType(path, lane != "")
	if err != nil {
		return Figure{}, err
	}
	return Figure{Name: name, Kind: kindOf(path, t), Doc: "The measurement of this name in result.json.", Of: func(s Subject) (float64, bool) {
		if s.WhyNot(name) != "" || slices.Contains(Unseen(s), name) {
			return 0, false
		}
		v := reflect.ValueOf(s)
		if lane != "" {
			at := slices.IndexFunc(s.Lanes, func(l Lane) bool { return l.Name == lane })
			if at < 0 {
				return 0, false
			}
			v = reflect.ValueOf(s.Lanes[at])
		}
		return numberAt(v, path)
	}}, nil
}

// ratio returns the figure of/per. It has no value if per is zero.
func ratio(name, of, per string) (Figure, error) {
	above, err := At(of)
	if err != nil {
		return Figure{}, err
	}
	below, err := At(per)
	if err != nil {
		return Figure{}, err
	}
	kind := Number
	if below.Kind == Count && above.Kind != Count {
		kind = above.Kind
	}
	return Figure{Name: name, Kind: kind, Doc: "The ratio of the two.", Of: func(s Subject) (float64, bool) {
		a, ok := above.Of(s)
		b, also := below.Of(s)
		if !ok || !also || b == 0 {
			return 0, false
		}
		return a / b, true
	}}, nil
}

// numberType returns the type of a number of a subject, or of a lane.
func numberType(path string, ofLane bool) (reflect.Type, error) {
	t, what := typeOf(path), "measurement"
	if path == "" {
		return nil, errors.New("there is no measurement without a name")
	}
	if ofLane {
		t, what = typeIn(reflect.TypeFor[Lane](), path), "number of a lane"
	}
	if t == nil {
		if err := CheckName(path); err != nil && !ofLane {
			return nil, fmt.Errorf("%w; the figures are those of windtunnel list figures, and numbers such as lanes.http.failed", err)
		}
		return nil, fmt.Errorf("there is no %s %s", what, path)
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Float64:
		return t, nil
	case reflect.Struct:
		return nil, fmt.Errorf("%s is not a number; add one of its fields: %s", path, strings.Join(NamesUnder(path), ", "))
	}
	return nil, fmt.Errorf("%s is not a number", path)
}

func kindOf(path string, t reflect.Type) Kind {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return Time
	case t.Kind() == reflect.Float64:
		return Number
	case strings.HasSuffix(path, "RSS") || strings.HasSuffix(path, "PSS") || strings.HasPrefix(path, "heap."):
		return Bytes
	}
	return Count
}

// numberAt returns a number by its path, times in seconds. Numbers of an empty set of durations, or of
// a trend through too few points, do not exist, except for the size of the set.
func numberAt(v reflect.Value, path string) (float64, bool) {
	for step := range strings.SplitSeq(path, ".") {
		switch in := v.Interface().(type) {
		case Durations:
			if in.N == 0 && step != "n" {
				return 0, false
			}
		case Trend:
			if in.N == 0 && step != "n" {
				return 0, false
			}
		}
		for _, field := range reflect.VisibleFields(v.Type()) {
			if jsonName(field) == step {
				v = v.FieldByIndex(field.Index)
				break
			}
		}
	}
	if d, ok := v.Interface().(time.Duration); ok {
		return d.Seconds(), true
	}
	if v.Kind() == reflect.Float64 {
		return v.Float(), true
	}
	return float64(v.Int()), true
}
