package render

import (
	"bytes"
	"crypto/rand"
	"reflect"
	"sync"
	"sync/atomic"
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

// mostOutlines limits how many dots a dot is compared with.
const mostOutlines = 4

// outlines are those of the last different dots of a template. The zero value is ready to use, also by
// several goroutines.
type outlines struct {
	mu  sync.Mutex                     // held while all is replaced
	all atomic.Pointer[[]knownOutline] // the newest first
}

type knownOutline struct {
	dot any // a pointer to a dot without names
	*outline
}

// find returns the outline of a dot, which is made if it is not known. dot points to a dot with
// placeholders for names; it is kept, and must not be changed, if kept is true.
func (o *outlines) find(dot any, execute func(out *bytes.Buffer) error) (found *outline, kept bool, err error) {
	if all := o.all.Load(); all != nil {
		for _, known := range *all {
			if reflect.DeepEqual(known.dot, dot) {
				return known.outline, false, nil
			}
		}
	}
	var text bytes.Buffer
	if err := execute(&text); err != nil {
		return nil, false, err
	}
	found = outlineOf(text.Bytes())
	o.add(knownOutline{dot, found})
	return found, true, nil
}

func (o *outlines) add(one knownOutline) {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := []knownOutline{one}
	if known := o.all.Load(); known != nil {
		all = append(all, (*known)[:min(len(*known), mostOutlines-1)]...)
	}
	o.all.Store(&all)
}
