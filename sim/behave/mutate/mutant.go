// Package mutate makes mutants of a controller's inputs: the lines of its template of nginx.conf,
// the lines of its Lua code, and its annotations, ConfigMap keys and flags. A behaviour case that
// fails under a mutant watches what the mutant changes. Its one rule: it is pure. It runs no case;
// sim/behave/mutate/hunt does.
package mutate

import (
	"fmt"
	"strings"
)

// Kind says what a mutant changes.
type Kind string

// The kinds of mutants.
const (
	Template   Kind = "template"   // a line of the template of nginx.conf
	Lua        Kind = "lua"        // a line of the Lua code
	Annotation Kind = "annotation" // the controller ignores an annotation
	Config     Kind = "config"     // the controller ignores a ConfigMap key
	Flag       Kind = "flag"       // the controller ignores a flag
)

// Kinds lists the kinds, in the order of reports.
var Kinds = []Kind{Template, Lua, Annotation, Config, Flag}

// Mutant is one change. Its name is unique.
type Mutant struct {
	Name string `json:"name"` // template/cors.tmpl:12/delete, annotation/app-root/ignore
	Kind Kind   `json:"kind"`
	// File is the name of the changed file, and Line the number of the changed line, from 1. Both are
	// empty for settings.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Was is the line, or the name of the setting. Now replaces the line; empty deletes it.
	Was string `json:"was"`
	Now string `json:"now,omitempty"`
	// Reach is the line whose execution shows that the mutant is reached. It equals Line, except
	// for branches: the condition of an else is evaluated in the line of its if.
	Reach int `json:"-"`
	// Branch are the lines of Lua that are executed only if the condition in Line holds. It is nil
	// if they are part of Line, and for other mutants.
	Branch []int `json:"-"`
}

// lineMutant returns a mutant of a line.
func lineMutant(kind Kind, file string, line int, what, was, now string) Mutant {
	return Mutant{Name: fmt.Sprintf("%s/%s:%d/%s", kind, file, line, what), Kind: kind, File: file, Line: line, Was: was, Now: now, Reach: line}
}

// Change returns what the mutant does to its line, such as delete.
func (m Mutant) Change() string { return m.Name[strings.LastIndexByte(m.Name, '/')+1:] }

// Position returns the file and line that the mutant changes, such as cors.tmpl:12.
func (m Mutant) Position() string { return fmt.Sprintf("%s:%d", m.File, m.Line) }

// Site returns the line that must be executed for the mutant to have an effect.
func (m Mutant) Site() string { return site(m.File, m.Reach) }

// BranchSites returns the lines of Branch as Site does.
func (m Mutant) BranchSites() []string {
	all := make([]string, len(m.Branch))
	for i, line := range m.Branch {
		all[i] = site(m.File, line)
	}
	return all
}

func site(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// Apply returns the files with the mutants, of which no two may change the same line. It does not
// change its argument. Lines keep their numbers.
func Apply(files map[string]string, mutants ...Mutant) map[string]string {
	changed := map[string][]string{}
	for _, m := range mutants {
		if changed[m.File] == nil {
			changed[m.File] = strings.Split(files[m.File], "\n")
		}
		changed[m.File][m.Line-1] = m.Now
	}
	all := make(map[string]string, len(files))
	for name, text := range files {
		if lines, ok := changed[name]; ok {
			text = strings.Join(lines, "\n")
		}
		all[name] = text
	}
	return all
}
