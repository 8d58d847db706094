package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// normaliser replaces values that a server chooses freely. Times become a fixed word. UIDs, cluster
// IPs, node ports and generated names become labels; two values get the same label if they first
// appear in the same place in both servers' answers. Versions become their rank among the object
// versions that both servers returned. So a value that only one server returned does not shift
// later values.
type normaliser struct {
	managedFields bool              // keep managedFields, to compare them
	labels        map[string]string // labels by value
	versions      []uint64          // of objects
}

var (
	uuids    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	times    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	tokens   = regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]+`)              // of service accounts
	services = regexp.MustCompile(`\b10\.(9[6-9]|10\d|11[01])\.\d+\.\d+\b`) // 10.96.0.0/12
	ages     = regexp.MustCompile(`^\d+(s|m\d*s?)$`)
	mentions = regexp.MustCompile(`((?i:resource ?version)[^:"]*: |current: |resource version: \d+ \()(\d+)`)
)

// normalise returns the documents of both servers in a comparable form. Both lists must have the
// order of the story.
func normalise(ours, real []any, managedFields bool) (a, b []any) {
	p := pairs{ours: normaliser{managedFields: managedFields, labels: map[string]string{}}, real: normaliser{managedFields: managedFields, labels: map[string]string{}}}
	for i := range ours {
		p.collect(ours[i], real[i])
	}
	return p.ours.rewriteAll(ours), p.real.rewriteAll(real)
}

// pairs finds corresponding values of both servers, by their places.
type pairs struct {
	ours, real normaliser
	labelled   int
}

func (p *pairs) collect(a, b any) {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			p.pairAll("uid", uuids.FindAllString(a, -1), uuids.FindAllString(b, -1))
			p.pairAll("cluster IP", services.FindAllString(a, -1), services.FindAllString(b, -1))
		}
	case []any:
		b, _ := b.([]any)
		for i := range min(len(a), len(b)) {
			p.collect(a[i], b[i])
		}
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return
		}
		p.collectMetadata(a, b)
		for _, key := range slices.Sorted(maps.Keys(a)) {
			p.collectNodePort(key, a[key], b[key])
			p.collect(a[key], b[key])
		}
	}
}

func (p *pairs) collectMetadata(a, b map[string]any) {
	rv, ok := objectVersion(a)
	other, okToo := objectVersion(b)
	if ok && okToo && !slices.Contains(p.ours.versions, rv) && !slices.Contains(p.real.versions, other) {
		p.ours.versions = append(p.ours.versions, rv)
		p.real.versions = append(p.real.versions, other)
	}
	if name, other, ok := generatedNames(a, b); ok {
		p.pairAll("generated name", []string{name}, []string{other})
	}
}

var nodePortKeys = []string{"nodePort", "healthCheckNodePort"}

func (p *pairs) collectNodePort(key string, a, b any) {
	x, ok := a.(json.Number)
	y, okToo := b.(json.Number)
	if ok && okToo && slices.Contains(nodePortKeys, key) && len(x) == 5 {
		p.pairAll("node port", []string{x.String()}, []string{y.String()})
	}
}

const suffix = 5 // number of random characters at the end of a generated name

// generatedNames returns the names in two documents (metadata or the details of a Status), and
// reports whether they differ only in such a suffix.
func generatedNames(a, b map[string]any) (name, other string, ok bool) {
	name, _ = a["name"].(string)
	other, _ = b["name"].(string)
	if name == other || len(name) != len(other) || len(name) <= suffix {
		return "", "", false
	}
	prefix := name[:len(name)-suffix]
	return name, other, strings.HasSuffix(prefix, "-") && strings.HasPrefix(other, prefix)
}

func (p *pairs) pairAll(word string, a, b []string) {
	for i := range min(len(a), len(b)) {
		if p.ours.labels[a[i]] != "" || p.real.labels[b[i]] != "" {
			continue
		}
		p.labelled++
		label := fmt.Sprintf("<%s %d>", word, p.labelled)
		p.ours.labels[a[i]], p.real.labels[b[i]] = label, label
	}
}

// objectVersion returns the version in the metadata of an object. It returns false for lists and
// bookmarks.
func objectVersion(metadata map[string]any) (uint64, bool) {
	if name, _ := metadata["name"].(string); name == "" {
		return 0, false
	}
	text, _ := metadata["resourceVersion"].(string)
	rv, err := strconv.ParseUint(text, 10, 64)
	return rv, err == nil && rv > 0
}

func (n *normaliser) rewriteAll(docs []any) []any {
	slices.Sort(n.versions)
	var plain []any
	for _, doc := range docs {
		plain = append(plain, n.rewrite("", doc))
	}
	return plain
}

func (n *normaliser) rewrite(key string, v any) any {
	switch v := v.(type) {
	case string:
		return n.text(key, v)
	case json.Number:
		if slices.Contains(nodePortKeys, key) && n.labels[v.String()] != "" {
			return n.labels[v.String()]
		}
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = n.rewrite(key, item)
		}
		return items
	case map[string]any:
		fields := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name == "managedFields" && !n.managedFields {
				continue
			}
			fields[name] = n.rewrite(name, v[name])
		}
		if rv, ok := objectVersion(v); ok {
			fields["resourceVersion"] = n.version(rv)
		}
		return fields
	}
	return v
}

func (n *normaliser) text(key, s string) string {
	switch key {
	case "resourceVersion": // of a list: at least the version of the newest object before it
		if rv, err := strconv.ParseUint(s, 10, 64); err == nil && rv > 0 {
			return fmt.Sprintf("<version %d or later>", n.rank(rv))
		}
	case "continue":
		return readToken(s)
	case "cells":
		if ages.MatchString(s) {
			return "<age>"
		}
	}
	s = uuids.ReplaceAllStringFunc(s, func(u string) string { return cmp.Or(n.labels[u], "<another uid>") })
	s = services.ReplaceAllStringFunc(s, func(ip string) string { return cmp.Or(n.labels[ip], "<another cluster IP>") })
	s = tokens.ReplaceAllString(s, "<token>")
	s = times.ReplaceAllString(s, "<time>")
	for range 2 { // matches may overlap
		s = mentions.ReplaceAllString(s, "${1}<version>")
	}
	for value, label := range n.labels {
		s = strings.ReplaceAll(s, value, label)
	}
	return s
}

// rank returns the number of object versions up to rv.
func (n *normaliser) rank(rv uint64) int {
	i, found := slices.BinarySearch(n.versions, rv)
	if found {
		i++
	}
	return i
}

func (n *normaliser) version(rv uint64) string {
	if _, found := slices.BinarySearch(n.versions, rv); !found {
		return fmt.Sprintf("<version between %d and %d>", n.rank(rv), n.rank(rv)+1)
	}
	return fmt.Sprintf("<version %d>", n.rank(rv))
}

var tokenVersion = regexp.MustCompile(`"rv":\d+`)

// readToken returns the content of a continue token, without its version.
func readToken(token string) string {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || token == "" {
		return token
	}
	return tokenVersion.ReplaceAllString(string(b), `"rv":<version>`)
}
