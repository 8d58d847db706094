package render

import (
	"bytes"
	"text/template"
)

// The files of the templates that have outlines: the server's, and those for its locations.
const (
	serverFile   = "server.tmpl"
	locationFile = "location.tmpl"
	authFile     = "authlocation.tmpl"
	signinFile   = "signin.tmpl"
)

// quickTemplate produces the same output as ours, faster.
type quickTemplate struct{ *template.Template }

var quick = func() quickTemplate {
	copied, err := ours.parsed.Clone()
	t := quickTemplate{copied}
	copied.Funcs(template.FuncMap{"text": t.text, "located": t.located})
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

// writeServer executes the template of a server, or fills the gaps of its outline.
func (t quickTemplate) writeServer(out *bytes.Buffer, server *served) error {
	unnamed := unnamedServers.Get().(*unnamedServer) //nolint:forcetypeassert // see unnamedServers
	if !unnamed.set(server) {
		unnamedServers.Put(unnamed)
		return t.ExecuteTemplate(out, serverFile, server)
	}
	text, kept, err := t.outline(serverFile, server.Locations[0], &unnamed.served)
	if !kept {
		unnamedServers.Put(unnamed)
	}
	if err != nil {
		return err
	}
	names := server.names()
	return text.fill(out, func(name int) error {
		if name >= firstPart {
			part := parts[name-firstPart]
			return t.writeLocated(out, part.file, *part.of(server))
		}
		out.WriteString(*names[name])
		return nil
	})
}

// writeLocated fills the outlines of a file for a list of locations.
func (t quickTemplate) writeLocated(out *bytes.Buffer, file string, locations []*located) error {
	for i, l := range locations {
		if i > 0 {
			out.WriteByte('\n')
		}
		if err := t.writeOne(out, file, l); err != nil {
			return err
		}
	}
	return nil
}

// writeOne fills the outline of a file for a location.
func (t quickTemplate) writeOne(out *bytes.Buffer, file string, l *located) error {
	unnamed := unnamedLocations.Get().(*unnamedLocation) //nolint:forcetypeassert // see unnamedLocations
	unnamed.set(l)
	text, kept, err := t.outline(file, l, &unnamed.located)
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

// outline returns the outline of a file for a dot without names that belongs to location l; see
// outlines.find.
func (t quickTemplate) outline(file string, l *located, dot any) (found *outline, kept bool, err error) {
	return l.All.texts.outlines.find(kindOf(file, l), dot, func(text *bytes.Buffer) error { return t.ExecuteTemplate(text, file, dot) })
}

// located returns the text of a file for a location.
func (t quickTemplate) located(file string, l *located) (string, error) {
	if l == anyLocations[0] {
		name, _ := partOf(file)
		return placeholder(name), nil
	}
	var text bytes.Buffer
	err := t.writeOne(&text, file, l)
	return text.String(), err
}
