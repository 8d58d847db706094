package render

import (
	"bytes"
	"reflect"
	"sync"
	"sync/atomic"
	"text/template"
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
	dot  located // see located.settings
	text string
}

func (k *knownSettings) find(dot located) (text string, ok bool) {
	if all := k.all.Load(); all != nil {
		for _, known := range *all {
			if reflect.DeepEqual(known.dot, dot) {
				return known.text, true
			}
		}
	}
	return "", false
}

func (k *knownSettings) add(dot located, text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := []settingsText{{dot, text}}
	if known := k.all.Load(); known != nil {
		all = append(all, (*known)[:min(len(*known), mostSettings-1)]...)
	}
	k.all.Store(&all)
}

// settings returns the function settings of templates.
func settings(templates *template.Template) func(dot located) (string, error) {
	execute := func(dot located) (string, error) {
		var text bytes.Buffer
		err := templates.ExecuteTemplate(&text, settingsFile, dot)
		return text.String(), err
	}
	return func(dot located) (string, error) {
		dot, shared := dot.settings()
		if !shared {
			return execute(dot)
		}
		known := &dot.All.texts.settings
		if text, ok := known.find(dot); ok {
			return text, nil
		}
		text, err := execute(dot)
		if err == nil {
			known.add(dot, text)
		}
		return text, err
	}
}
