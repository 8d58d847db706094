package render

import (
	"bytes"
	"crypto/rand"
	"reflect"
	"sync"

	"windtunnel.dev/controller/annotations"
)

// outline is the text of a server or location with gaps for its names. Most servers and locations
// differ only in names, so a rendering executes the templates once per outline, and fills the gaps
// for each.
type outline struct {
	texts [][]byte // the text around the gaps; one more than gaps
	gaps  []int    // the index of the name for each gap
}

// mark begins the placeholders for names in the output of a template. It is random, so no other
// text contains it.
var mark = []byte(rand.Text())

// placeholder returns the placeholder for the name with that index.
func placeholder(name int) string { return string(mark) + string(rune('A'+name)) }

// outlineOf returns the outline of a text with placeholders for names.
func outlineOf(text []byte) *outline {
	parts := bytes.Split(text, mark)
	o := &outline{texts: parts[:1]}
	for _, part := range parts[1:] {
		o.gaps, o.texts = append(o.gaps, int(part[0]-'A')), append(o.texts, part[1:])
	}
	return o
}

// fill writes the text. It calls write for each name.
func (o *outline) fill(out *bytes.Buffer, write func(name int) error) error {
	out.Write(o.texts[0])
	for i, name := range o.gaps {
		if err := write(name); err != nil {
			return err
		}
		out.Write(o.texts[i+1])
	}
	return nil
}

// Limits of outlines: the number of dots kept per kind, and the number of kinds.
const (
	mostOutlines = 4
	mostKinds    = 512
)

// outlines caches outlines by the dots of their templates. The zero value is ready to use and safe
// for concurrent use.
type outlines struct {
	mu  sync.RWMutex
	all map[kind][]knownOutline // the newest first
}

// kind groups dots. Dots of one kind are likely to differ only in names.
type kind struct {
	file        string
	annotations uint64
}

// kindOf returns the kind of a location, or of the server whose first location it is.
func kindOf(file string, l *located) kind {
	if l.Location.Ingress == nil {
		return kind{file: file}
	}
	return kind{file, annotations.Fingerprint(l.Location.Ingress.Ingress, &l.All.options)}
}

type knownOutline struct {
	dot any // a pointer to a dot without names
	*outline
}

// find returns the outline of a dot. It executes the template if the dot is unknown. dot points to
// a dot with placeholders for names. If kept is true, find keeps the dot, which must not be
// changed.
func (o *outlines) find(its kind, dot any, execute func(out *bytes.Buffer) error) (found *outline, kept bool, err error) {
	o.mu.RLock()
	alike := o.all[its]
	o.mu.RUnlock()
	for _, known := range alike {
		if reflect.DeepEqual(known.dot, dot) {
			return known.outline, false, nil
		}
	}
	var text bytes.Buffer
	if err := execute(&text); err != nil {
		return nil, false, err
	}
	found = outlineOf(text.Bytes())
	o.add(its, knownOutline{dot, found})
	return found, true, nil
}

func (o *outlines) add(its kind, one knownOutline) {
	o.mu.Lock()
	defer o.mu.Unlock()
	alike := o.all[its]
	if o.all == nil || alike == nil && len(o.all) == mostKinds {
		o.all = make(map[kind][]knownOutline) // kinds that are still in use are added again
	}
	o.all[its] = append([]knownOutline{one}, alike[:min(len(alike), mostOutlines-1)]...)
}
