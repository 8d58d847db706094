package render

import (
	"bytes"
	"crypto/rand"
	"reflect"
	"sync"

	"windtunnel.dev/controller/annotations"
)

// outline is the text of a server or location with gaps for its names. Most servers and locations differ
// only in names, so a rendering executes the templates once for each outline, and fills it for all others.
type outline struct {
	texts [][]byte // those between the gaps; one more than gaps
	gaps  []int    // which name each gap is for
}

// mark begins the texts that stand for names in the output of a template. Nobody can guess it, so no
// other text contains it.
var mark = []byte(rand.Text())

// placeholder stands for a name.
func placeholder(name int) string { return string(mark) + string(rune('A'+name)) }

// outlineOf returns the outline of a text in which placeholders stand for names.
func outlineOf(text []byte) *outline {
	parts := bytes.Split(text, mark)
	o := &outline{texts: parts[:1]}
	for _, part := range parts[1:] {
		o.gaps, o.texts = append(o.gaps, int(part[0]-'A')), append(o.texts, part[1:])
	}
	return o
}

// fill writes the text; write writes a name.
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

// A dot is compared with at most mostOutlines others, which are of its kind. There are at most mostKinds.
const (
	mostOutlines = 4
	mostKinds    = 512
)

// outlines are those of the last different dots of templates. The zero value is ready to use, also by
// several goroutines.
type outlines struct {
	mu  sync.RWMutex
	all map[kind][]knownOutline // the newest first
}

// kind groups dots: those of one kind are likely to be equal without their names.
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

// find returns the outline of a dot, which is made if it is not known. dot points to a dot with
// placeholders for names; it is kept, and must not be changed, if kept is true.
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
