package render

import (
	"bytes"
	"reflect"
	"sync"
	"sync/atomic"
	"text/template"

	"windtunnel.dev/controller/model"
)

const settingsFile = "settings.tmpl"

// mostSettings limits how many settings a location is compared with.
const mostSettings = 4

// knownSettings are the last different settings, with their texts. The zero value is ready to use, also by
// several goroutines.
type knownSettings struct {
	mu  sync.Mutex                     // held while all is replaced
	all atomic.Pointer[[]settingsText] // the newest first
}

type settingsText struct {
	settings *unnamed
	text     string
}

// unnamed is a location without its names: what settings.tmpl reads. Most locations have equal ones.
type unnamed struct {
	located
	location model.Location // that of located
}

// set takes the settings of a location. It returns false if settings.tmpl reads names of it.
func (u *unnamed) set(l *located) bool {
	if l.ExternalAuth != nil {
		return false
	}
	u.located = *l
	u.Server, u.Identity, u.Pass = nil, identity{}, ""
	u.location = model.Location{Location: l.Location.Location, ProxySSL: l.Location.ProxySSL}
	u.Location = &u.location
	return true
}

// scratch has values to compare with known ones, which takes no memory each time.
var scratch = sync.Pool{New: func() any { return new(unnamed) }}

func (k *knownSettings) find(wanted *unnamed) (text string, ok bool) {
	if all := k.all.Load(); all != nil {
		for _, known := range *all {
			if reflect.DeepEqual(&known.settings.located, &wanted.located) {
				return known.text, true
			}
		}
	}
	return "", false
}

// add keeps the settings.
func (k *knownSettings) add(settings *unnamed, text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := []settingsText{{settings, text}}
	if known := k.all.Load(); known != nil {
		all = append(all, (*known)[:min(len(*known), mostSettings-1)]...)
	}
	k.all.Store(&all)
}

// settings returns the function settings of templates.
func settings(templates *template.Template) func(*located) (string, error) {
	execute := func(dot *located) (string, error) {
		var text bytes.Buffer
		err := templates.ExecuteTemplate(&text, settingsFile, dot)
		return text.String(), err
	}
	return func(dot *located) (string, error) {
		wanted := scratch.Get().(*unnamed) //nolint:forcetypeassert // see scratch
		if !wanted.set(dot) {
			scratch.Put(wanted)
			return execute(dot)
		}
		known := &dot.All.texts.settings
		if text, ok := known.find(wanted); ok {
			scratch.Put(wanted)
			return text, nil
		}
		text, err := execute(&wanted.located)
		if err == nil {
			known.add(wanted, text)
		}
		return text, err
	}
}
