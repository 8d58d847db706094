package render

import (
	"bytes"
	"text/template"
)

// The files of the templates of servers and locations.
const (
	serverFile   = "server.tmpl"
	locationFile = "location.tmpl"
)

// quickTemplate writes the same as ours, in less time.
type quickTemplate struct{ *template.Template }

var quick = func() quickTemplate {
	copied, err := ours.parsed.Clone()
	t := quickTemplate{copied}
	copied.Funcs(template.FuncMap{"text": t.text, "location": t.location})
	for _, file := range copied.Templates() {
		tree := file.Tree.Copy()
		once(tree.Root)
		if err == nil {
			_, err = copied.AddParseTree(file.Name(), tree)
		}
	}
	if err != nil {
		panic(err) // cannot happen: nothing has been executed yet
	}
	return t
}()

// writeServer executes the template of a server, or fills its outline.
func (t quickTemplate) writeServer(out *bytes.Buffer, server *served) error {
	unnamed := unnamedServers.Get().(*unnamedServer) //nolint:forcetypeassert // see unnamedServers
	if !unnamed.set(server) {
		unnamedServers.Put(unnamed)
		return t.ExecuteTemplate(out, serverFile, server)
	}
	text, kept, err := t.outline(serverFile, &server.First.texts.servers, kindOf(server.Locations[0]), &unnamed.served)
	if !kept {
		unnamedServers.Put(unnamed)
	}
	if err != nil {
		return err
	}
	names := server.names()
	return text.fill(out, func(name int) error {
		if name == itsLocations {
			return t.writeLocations(out, server.Locations)
		}
		out.WriteString(*names[name])
		return nil
	})
}

func (t quickTemplate) writeLocations(out *bytes.Buffer, locations []*located) error {
	for i, l := range locations {
		if i > 0 {
			out.WriteByte('\n')
		}
		if err := t.writeLocation(out, l); err != nil {
			return err
		}
	}
	return nil
}

// writeLocation executes the template of a location, or fills its outline.
func (t quickTemplate) writeLocation(out *bytes.Buffer, l *located) error {
	unnamed := unnamedLocations.Get().(*unnamedLocation) //nolint:forcetypeassert // see unnamedLocations
	if !unnamed.set(l) {
		unnamedLocations.Put(unnamed)
		return t.ExecuteTemplate(out, locationFile, l)
	}
	text, kept, err := t.outline(locationFile, &l.All.texts.locations, kindOf(l), &unnamed.located)
	if !kept {
		unnamedLocations.Put(unnamed)
	}
	if err != nil {
		return err
	}
	names := l.names()
	return text.fill(out, func(name int) error {
		out.WriteString(*names[name])
		return nil
	})
}

// outline returns the outline of a file for a dot without names; see outlines.find.
func (t quickTemplate) outline(file string, known *outlines, its kind, dot any) (found *outline, kept bool, err error) {
	return known.find(its, dot, func(text *bytes.Buffer) error { return t.ExecuteTemplate(text, file, dot) })
}

// location returns the text of a location.
func (t quickTemplate) location(l *located) (string, error) {
	if l == anyLocations[0] {
		return placeholder(itsLocations), nil
	}
	var text bytes.Buffer
	err := t.writeLocation(&text, l)
	return text.String(), err
}
