package derive

import (
	"slices"
	"strings"
	"unicode"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/internal/regexample"
	"windtunnel.dev/sim/behave"
)

// field names fields of ingresses, for Step.About.
func field(names ...string) []string {
	var all []string
	for _, name := range names {
		all = append(all, behave.FieldPrefix+name)
	}
	return all
}

// askPaths asks for the paths of a site: which of them match, which do not, and what a client gets
// over http if the site has https.
func (b *builder) askPaths(s *site) {
	a := &asker{builder: b, site: s, ofPaths: true}
	seen := map[*ingress]bool{}
	for _, p := range s.paths {
		a.path, a.i = p, p.ingress
		text, ok := p.asked()
		if !ok {
			b.notes.add("field/path", "not tested: no example of this regular expression: "+p.text, p.object())
			continue
		}
		a.about = append(field("host", "path", "backend"), p.shaping(text)...)
		q := a.get(text + "?windtunnel=1")
		if !seen[p.ingress] {
			seen[p.ingress] = true
			q.look.all, q.look.protocol, q.look.cookies = true, true, true
			q.look.exceptAnswer, q.look.exceptPod = asked(p.ingress)
		}
		if s.tls {
			q.step.About = append(q.step.About, field("tls")...)
		}
		a.about = append(field("path", "pathType"), p.shaping(text)...)
		if p.regex { // because of an annotation of any ingress of the host
			a.about = append(field("path"), p.shaping(text)...)
			for _, name := range []string{"rewrite-target", "use-regex"} {
				if about := "annotation/" + name; s.has(name) && !slices.Contains(a.about, about) {
					a.about = append(a.about, about)
				}
			}
		}
		a.near = true
		for _, other := range near(p, text) {
			a.get(other)
		}
		a.near = false
	}
	a.path, a.i = nil, nil
	if len(b.ingresses) > 0 && len(s.paths) > 0 {
		a.i, a.path = s.paths[0].ingress, s.paths[0]
	}
	if !slices.ContainsFunc(s.paths, func(p *path) bool { return p.text == "/" && p.kind != networkingv1.PathTypeExact }) {
		a.about, a.near = field("path", "defaultBackend"), true
		a.get("/windtunnel-elsewhere")
	}
	if s.tls && a.path != nil {
		a.about, a.near = field("tls"), false
		a.ask("GET", "http", s.host, a.mayAsk()+"?windtunnel=1")
	}
}

// has reports whether an ingress of the site has an annotation.
func (s *site) has(annotation string) bool {
	return slices.ContainsFunc(s.paths, func(p *path) bool { return p.ingress.has(annotation) })
}

// shaping returns the annotations that determine the answer to a request for the path.
func (p *path) shaping(text string) []string {
	names := []string{"permanent-redirect", "rewrite-target", "temporal-redirect", "use-regex"}
	if text == "/" {
		names = append(names, "app-root")
	}
	var about []string
	for _, name := range names {
		if p.has(name) {
			about = append(about, "annotation/"+name)
		}
	}
	return about
}

// mayAsk returns a path that the asker's path should match, or / if there is none.
func (a *asker) mayAsk() string {
	if text, ok := a.path.asked(); ok {
		return text
	}
	return "/"
}

// near returns paths close to one that matches: below it, with and without a slash at its end, in
// another case, and with a longer last segment.
func near(p *path, text string) []string {
	if text == "/" {
		return []string{"/" + word}
	}
	bare := strings.TrimSuffix(text, "/")
	var all []string
	if p.regex {
		for _, short := range regexample.All(p.text)[1:] {
			all = append(all, regexample.Escaped(short))
		}
	}
	all = append(all, bare, bare+"/", bare+"/"+word, bare+word)
	if swapped := swapCase(bare); swapped != bare {
		all = append(all, swapped)
	}
	return slices.DeleteFunc(all, func(near string) bool { return !strings.HasPrefix(near, "/") || near == text })
}

// swapCase changes the case of the first letter. The digits of encoded characters stay.
func swapCase(text string) string {
	for i, r := range text {
		if !unicode.IsLetter(r) || i >= 1 && text[i-1] == '%' || i >= 2 && text[i-2] == '%' {
			continue
		}
		changed := unicode.ToUpper(r)
		if changed == r {
			changed = unicode.ToLower(r)
		}
		return text[:i] + string(changed) + text[i+len(string(r)):]
	}
	return text
}
