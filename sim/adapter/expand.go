package adapter

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Setup is an adapter for one subject: all templates of its Spec are expanded, and what does not
// apply to the subject is left out.
type Setup struct {
	Adapter string // its name
	Spec
	Objects []*unstructured.Unstructured // in the order of the file
	// Arguments are the flags of the subject, as written after the command.
	Arguments []string
	// Unapplied are the ConfigMap keys of the subject that do not reach the controller, because it has
	// no ConfigMap.
	Unapplied []string
	// HasAccount says that the controller needs its service account and the account's files.
	HasAccount bool
}

// Expand expands the adapter for a subject. It sets those fields of data that the adapter itself
// decides: Namespace, PodName and ConfigMap.
func (a *Adapter) Expand(data Data) (*Setup, error) {
	data.Namespace, data.PodName = a.Namespace, a.Pod
	var errs []error
	expand := func(path []any, text string) string {
		expanded, err := execute(text, data)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", a.File, dotted(path), err))
		}
		return expanded
	}
	data.ConfigMap = expand([]any{"spec", "configMap"}, a.ConfigMap)
	s := &Setup{Adapter: a.Name, Spec: a.Spec.transform(expand), HasAccount: a.hasAccount()}
	s.Command = append(s.Command[:1], slices.DeleteFunc(s.Command[1:], isEmpty)...)
	s.Keep = slices.DeleteFunc(s.Keep, isEmpty)
	s.NotApplicable = slices.DeleteFunc(s.NotApplicable, func(n NotApplicable) bool { return n.Why == "" })
	maps.DeleteFunc(s.Env, func(_, value string) bool { return value == "" })
	if s.InCluster {
		s.Env = data.APIServer.environment(s.Env)
	}
	s.Files = slices.DeleteFunc(s.Files, func(f File) bool { return f.left })
	if s.Isolation != nil && !holds(a.Isolation.When, s.Isolation.When) {
		s.Isolation = nil
	}
	for _, name := range slices.Sorted(maps.Keys(data.Flags)) {
		argument, err := execute(a.Flag, struct{ Name, Value string }{name, data.Flags[name]})
		s.Arguments, errs = append(s.Arguments, argument), append(errs, err)
	}
	for _, m := range a.Manifests {
		object := m.Object.DeepCopy()
		object.Object = expandTexts(object.Object, func(text string) string { return expand([]any{object.GetKind(), object.GetName()}, text) }).(map[string]any)
		errs = append(errs, s.configure(object, data.Config))
		s.Objects = append(s.Objects, object)
	}
	if s.ConfigMap == "" {
		s.Unapplied = slices.Sorted(maps.Keys(data.Config))
	}
	return s, errors.Join(errs...)
}

// configure adds the ConfigMap keys of a subject to the ConfigMap that gets them.
func (s *Setup) configure(object *unstructured.Unstructured, config map[string]string) error {
	if object.GetKind() != "ConfigMap" || object.GetNamespace()+"/"+object.GetName() != s.ConfigMap {
		return nil
	}
	data, _, err := unstructured.NestedStringMap(object.Object, "data")
	if err != nil {
		return err
	}
	all := maps.Clone(config)
	if all == nil {
		all = map[string]string{}
	}
	for key, value := range data {
		if value != "" { // a key that expands to nothing does not override the subject's
			all[key] = value
		}
	}
	return unstructured.SetNestedStringMap(object.Object, all, "data")
}

// holds reports whether a condition holds, given its expansion. An empty condition always holds.
func holds(condition, expanded string) bool {
	return condition == "" || expanded != "" && expanded != "false"
}

func isEmpty(text string) bool { return text == "" }

// transform returns the spec with each template replaced by f, which gets the path and the text of the
// template.
func (s Spec) transform(f func(path []any, text string) string) Spec {
	at := func(keys ...any) []any { return append([]any{"spec"}, keys...) }
	list := func(key string, texts []string) []string {
		var all []string
		for i, text := range texts {
			all = append(all, f(at(key, i), text))
		}
		return all
	}
	s.Command, s.Keep = list("command", s.Command), list("keep", s.Keep)
	env := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env[name] = f(at("env", name), s.Env[name])
	}
	s.Env = env
	s.Directory = f(at("directory"), s.Directory)
	s.ConfigMap = f(at("configMap"), s.ConfigMap)
	s.IngressClass.Controller = f(at("ingressClass", "controller"), s.IngressClass.Controller)
	if s.GatewayClass != nil {
		s.GatewayClass = &GatewayClass{Controller: f(at("gatewayClass", "controller"), s.GatewayClass.Controller)}
	}
	s.UserAgent = f(at("userAgent"), s.UserAgent)
	s.Processes.PIDFile = f(at("processes", "pidFile"), s.Processes.PIDFile)
	if s.Streams != nil {
		s.Streams = &Streams{TCP: f(at("streams", "tcp"), s.Streams.TCP), UDP: f(at("streams", "udp"), s.Streams.UDP)}
	}
	s.Files = slices.Clone(s.Files)
	for i := range s.Files {
		s.Files[i] = s.Files[i].transform(func(key, text string) string { return f(at("files", i, key), text) })
	}
	s.Health = slices.Clone(s.Health)
	for i := range s.Health {
		h := &s.Health[i]
		h.URL, h.Address = f(at("health", i, "url"), h.URL), f(at("health", i, "address"), h.Address)
	}
	s.Metrics = f(at("metrics"), s.Metrics)
	s.NotApplicable = slices.Clone(s.NotApplicable)
	for i := range s.NotApplicable {
		s.NotApplicable[i].Why = f(at("notApplicable", i, "why"), s.NotApplicable[i].Why)
	}
	if s.Isolation != nil {
		isolation := *s.Isolation
		isolation.When = f(at("isolation", "when"), isolation.When)
		s.Isolation = &isolation
	}
	return s
}

func (f File) transform(expand func(key, text string) string) File {
	made := f
	made.Path, made.From, made.Link, made.When = expand("path", f.Path), expand("from", f.From), expand("link", f.Link), expand("when", f.When)
	made.Replace = map[string]string{}
	for _, old := range slices.Sorted(maps.Keys(f.Replace)) {
		made.Replace[old] = expand("replace", f.Replace[old])
	}
	if f.Content != nil {
		made.Content = new(expand("content", *f.Content))
	}
	made.left = !holds(f.When, made.When) || f.From != "" && made.From == "" || f.Link != "" && made.Link == ""
	return made
}

// expandTexts replaces all texts of a manifest, also the keys of mappings.
func expandTexts(value any, f func(string) string) any {
	switch value := value.(type) {
	case string:
		return f(value)
	case map[string]any:
		made := make(map[string]any, len(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			made[f(key)] = expandTexts(value[key], f)
		}
		return made
	case []any:
		made := make([]any, len(value))
		for i := range value {
			made[i] = expandTexts(value[i], f)
		}
		return made
	}
	return value
}

// execute expands a template.
func execute(text string, data any) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	parsed, err := parseTemplate(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	if err := parsed.Execute(&out, data); err != nil {
		return "", fmt.Errorf("%s", plain(err))
	}
	return out.String(), nil
}

// templateName is the name of templates in the errors of text/template, which plain removes.
const templateName = "adapter"

func parseTemplate(text string) (*template.Template, error) {
	parsed, err := template.New(templateName).Option("missingkey=zero").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s", plain(err))
	}
	return parsed, nil
}

// plain returns the text of an error of text/template without its position: a template is one value of
// a file, whose line is known.
func plain(err error) string {
	text := strings.TrimPrefix(err.Error(), "template: "+templateName+":")
	if _, after, found := strings.Cut(text, ": "); found {
		text = after
	}
	return cmp.Or(text, err.Error())
}

// dotted returns a path as in spec.files[0].path.
func dotted(path []any) string {
	var text strings.Builder
	for i, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&text, "[%d]", step)
		default:
			if i > 0 {
				text.WriteString(".")
			}
			fmt.Fprint(&text, step)
		}
	}
	return text.String()
}
