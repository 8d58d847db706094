package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// difference is one value that differs between the two responses.
type difference struct {
	Story, Request string // where it was first seen
	Where          string // verb and resource, as in differences.yaml
	Path           string // in the response; list positions are []
	Ours, Real     string
}

// signature returns a string that is equal for differences that probably have the same cause.
func (d difference) signature() string {
	if d.Path == "status code" {
		return d.Where + " " + d.Path + " " + quoted.ReplaceAllString(d.Ours+" "+d.Real, "…")
	}
	return d.Where + " " + d.Path
}

var quoted = regexp.MustCompile(`"[^"]*"`)

// headers are the headers that affect clients.
var headers = []string{"Content-Type", "Warning", "Retry-After", "Cache-Control"}

// comparable returns the headers and the body or events of an answer as one document.
func (a answer) comparable() any {
	doc := map[string]any{}
	for _, name := range headers {
		if values := a.header.Values(name); len(values) > 0 {
			doc["header "+name] = strings.Join(values, "; ")
		}
	}
	if a.stream != nil {
		doc["events"] = a.stream.events()
	} else {
		doc["body"] = a.doc
	}
	return doc
}

// compareStep returns the differences between the answers to one step. If the status codes differ,
// it returns only that difference, because then everything differs.
func compareStep(s story, st step, ours, real answer, ourDoc, realDoc any) []difference {
	if st.verb == "AWAIT" || st.verb == "PAUSE" {
		return nil
	}
	base := difference{Story: s.name, Request: st.String(), Where: whereOf(st)}
	if ours.code != real.code {
		base.Path = "status code"
		base.Ours, base.Real = summary(ours.code, ourDoc), summary(real.code, realDoc)
		return []difference{base}
	}
	var found []difference
	diff("", ourDoc, realDoc, func(path, ours, real string) {
		d := base
		d.Path, d.Ours, d.Real = path, ours, real
		found = append(found, d)
	})
	return found
}

func summary(code int, doc any) string {
	text := fmt.Sprintf("%d %s", code, http.StatusText(code))
	body, _ := doc.(map[string]any)["body"].(map[string]any)
	if message, ok := body["message"].(string); ok {
		text += ": " + message
	}
	return text
}

var subject = regexp.MustCompile(`^/(?:api/v1|apis/([^/]+)/[^/]+)/(?:namespaces/[^/?]+/)?([^/?]+)(?:/[^/?]+)?(/[a-z]+)?`)

// whereOf returns the verb and resource of a step, such as "PUT ingresses/status". If the path names no
// resource, it returns the verb and the path.
func whereOf(st step) string {
	verb := st.verb
	switch patch := st.header.Get("Content-Type"); {
	case verb != "PATCH":
	case strings.HasPrefix(patch, "application/"):
		verb = strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(patch, "application/"), "+json"), "+yaml"))
	}
	match := subject.FindStringSubmatch(st.target)
	if match == nil {
		path, _, _ := strings.Cut(st.target, "?")
		return verb + " " + path
	}
	return verb + " " + match[2] + match[3]
}

// diff reports each leaf in which a and b differ.
func diff(path string, a, b any, report func(path, a, b string)) {
	if reflect.DeepEqual(a, b) {
		return
	}
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			diffMaps(path, a, b, report)
			return
		}
	case []any:
		if b, ok := b.([]any); ok {
			diffLists(path, a, b, report)
			return
		}
	}
	report(path, show(a), show(b))
}

func diffMaps(path string, a, b map[string]any, report func(path, a, b string)) {
	keys := map[string]bool{}
	for key := range a {
		keys[key] = true
	}
	for key := range b {
		keys[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		diff(strings.TrimPrefix(path+"."+key, "."), a[key], b[key], report)
	}
}

// diffLists compares by position, except lists of discovery, which it compares by name.
func diffLists(path string, a, b []any, report func(path, a, b string)) {
	byName, found := namedItems(path, a)
	others, foundToo := namedItems(path, b)
	if found && foundToo {
		diffMaps(path, byName, others, report)
		return
	}
	if len(a) != len(b) {
		report(path+" length", outline(a), outline(b))
		return
	}
	for i := range a {
		diff(path+"[]", a[i], b[i], report)
	}
}

// namedItems returns discovery's lists of groups and resources by name, because their order has no
// meaning. It returns false for other lists.
func namedItems(path string, list []any) (map[string]any, bool) {
	key := ""
	for suffix, name := range map[string]string{"body.resources": "name", "body.groups": "name", ".resources": "resource", ".subresources": "subresource"} {
		if strings.HasSuffix(path, suffix) && (key == "" || suffix == "body.resources") {
			key = name
		}
	}
	items := map[string]any{}
	for _, item := range list {
		fields, _ := item.(map[string]any)
		name, ok := fields[key].(string)
		if !ok {
			return nil, false
		}
		items[name] = item
	}
	return items, key != ""
}

// outline formats a list; of events it shows only type, name and version.
func outline(list []any) string {
	var names []string
	for _, item := range list {
		event, _ := item.(map[string]any)
		if kind, ok := event["type"].(string); ok && event["object"] != nil {
			names = append(names, kind+" "+lookUp(event, "object.metadata.name")+" "+lookUp(event, "object.metadata.resourceVersion"))
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("%d: %s", len(list), show(list))
	}
	return fmt.Sprintf("%d: %s", len(list), strings.Join(names, ", "))
}

func show(v any) string {
	if v == nil {
		return "(absent)" // or null, which is the same for clients
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b))
}
