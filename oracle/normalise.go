package main

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// normaliser replaces what two servers may choose differently by what it means
// in the story: times by a word; uids, cluster IPs and generated names by the
// order in which they appear; versions by their order.
type normaliser struct {
	managedFields bool                // keep them, to compare
	names         map[string][]string // what a word stands for, in the order of appearance
	versions      []uint64            // of objects, in their order
	generated     map[string]string   // generated name -> what it is called
}

var (
	uuids    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	times    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	services = regexp.MustCompile(`\b10\.(9[6-9]|10\d|11[01])\.\d+\.\d+\b`) // 10.96.0.0/12
	ages     = regexp.MustCompile(`^\d+(s|m\d*s?)$`)
	mentions = regexp.MustCompile(`((?i:resource ?version)[^:"]*: |current: |resource version: \d+ \()(\d+)`)
)

// normalise returns the documents of one server, which must be in the order of
// the story, in the form in which they can be compared.
func normalise(docs []any, managedFields bool) []any {
	n := &normaliser{managedFields: managedFields, names: map[string][]string{}, generated: map[string]string{}}
	for _, doc := range docs {
		n.collect(doc)
	}
	slices.Sort(n.versions)
	n.versions = slices.Compact(n.versions)
	var plain []any
	for _, doc := range docs {
		plain = append(plain, n.rewrite("", doc))
	}
	return plain
}

// collect notes the versions of all objects and the names that were generated.
func (n *normaliser) collect(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n.collect(item)
		}
	case map[string]any:
		if rv, ok := objectVersion(v); ok {
			n.versions = append(n.versions, rv)
		}
		prefix, _ := v["generateName"].(string)
		name, _ := v["name"].(string)
		if prefix != "" && strings.HasPrefix(name, prefix) && len(name) == len(prefix)+5 && n.generated[name] == "" {
			n.generated[name] = fmt.Sprintf("%s<generated %d>", prefix, len(n.generated)+1)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			n.collect(v[key])
		}
	}
}

// objectVersion is the version in the metadata of an object, but not of a list or a bookmark.
func objectVersion(metadata map[string]any) (uint64, bool) {
	if name, _ := metadata["name"].(string); name == "" {
		return 0, false
	}
	text, _ := metadata["resourceVersion"].(string)
	rv, err := strconv.ParseUint(text, 10, 64)
	return rv, err == nil
}

func (n *normaliser) rewrite(key string, v any) any {
	switch v := v.(type) {
	case string:
		return n.text(key, v)
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
			fields["resourceVersion"] = fmt.Sprintf("<version %d>", n.rank(rv))
		}
		return fields
	}
	return v
}

func (n *normaliser) text(key, s string) string {
	switch key {
	case "resourceVersion": // of a list: at least that of the newest object before it
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
	s = uuids.ReplaceAllStringFunc(s, func(u string) string { return n.name("uid", u) })
	s = services.ReplaceAllStringFunc(s, func(ip string) string { return n.name("cluster IP", ip) })
	s = times.ReplaceAllString(s, "<time>")
	for range 2 { // one mention may be the beginning of the next
		s = mentions.ReplaceAllString(s, "${1}<version>")
	}
	for name, word := range n.generated {
		s = strings.ReplaceAll(s, name, word)
	}
	return s
}

// rank counts the objects' versions up to rv.
func (n *normaliser) rank(rv uint64) int {
	i, found := slices.BinarySearch(n.versions, rv)
	if found {
		i++
	}
	return i
}

func (n *normaliser) name(word, text string) string {
	i := slices.Index(n.names[word], text)
	if i < 0 {
		i = len(n.names[word])
		n.names[word] = append(n.names[word], text)
	}
	return fmt.Sprintf("<%s %d>", word, i+1)
}

var tokenVersion = regexp.MustCompile(`"rv":\d+`)

// readToken shows what is in a continue token, without its version.
func readToken(token string) string {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || token == "" {
		return token
	}
	return tokenVersion.ReplaceAllString(string(b), `"rv":<version>`)
}
