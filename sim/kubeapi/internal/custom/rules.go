package custom

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// schemaRules is a part of a schema that has rules or contains parts with rules.
type schemaRules struct {
	schema            *schema.Structural
	rules             []*rule
	properties        map[string]*schemaRules
	items, additional *schemaRules
}

// rulesOf compiles the rules of a schema. It returns nil if the schema has no rules.
func rulesOf(s *schema.Structural, path *field.Path) (*schemaRules, field.ErrorList) {
	if s == nil {
		return nil, nil
	}
	r, problems := &schemaRules{schema: s, properties: map[string]*schemaRules{}}, field.ErrorList{}
	for i, from := range s.XValidations {
		compiled, err := compileRule(from)
		if err != nil {
			problems = append(problems, field.Invalid(path.Child("x-kubernetes-validations").Index(i).Child("rule"), from.Rule, err.Error()))
		} else if compiled != nil {
			r.rules = append(r.rules, compiled)
		}
	}
	part := func(of *schema.Structural, at *field.Path) *schemaRules {
		p, more := rulesOf(of, at)
		problems = append(problems, more...)
		return p
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		if p := part(&property, path.Child("properties").Key(name)); p != nil {
			r.properties[name] = p
		}
	}
	r.items = part(s.Items, path.Child("items"))
	if s.AdditionalProperties != nil {
		r.additional = part(s.AdditionalProperties.Structural, path.Child("additionalProperties"))
	}
	if len(r.rules) == 0 && len(r.properties) == 0 && r.items == nil && r.additional == nil {
		r = nil
	}
	return r, problems
}

// validate evaluates all rules for a value. Rules about a change are evaluated only where the old
// value is known.
func (r *schemaRules) validate(path *field.Path, value, old any) (problems field.ErrorList) {
	if r == nil || value == nil {
		return nil
	}
	shown := value
	switch value.(type) {
	case map[string]any, []any:
		shown = field.OmitValueType{}
	}
	var variables map[string]any
	for _, rule := range r.rules {
		if rule.transition && old == nil {
			continue
		}
		if variables == nil {
			variables = map[string]any{"self": celValue(value, r.schema), "oldSelf": celValue(old, r.schema)}
		}
		if problem := rule.problem(path, shown, variables); problem != nil {
			problems = append(problems, problem)
		}
	}
	switch value := value.(type) {
	case map[string]any:
		before, _ := old.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if property, known := r.properties[name]; known {
				problems = append(problems, property.validate(path.Child(name), value[name], before[name])...)
			} else if _, typed := r.schema.Properties[name]; !typed {
				problems = append(problems, r.additional.validate(path.Key(name), value[name], before[name])...)
			}
		}
	case []any:
		before, _ := old.([]any)
		for i, item := range value {
			problems = append(problems, r.items.validate(path.Index(i), item, r.counterpart(item, before))...)
		}
	}
	return problems
}

// counterpart returns the item with the same keys in an old list. Only items of lists with type map
// have one.
func (r *schemaRules) counterpart(item any, before []any) any {
	fields, ok := item.(map[string]any)
	if kind := r.schema.XListType; !ok || kind == nil || *kind != "map" {
		return nil
	}
	for _, old := range before {
		was, _ := old.(map[string]any)
		if !slices.ContainsFunc(r.schema.XListMapKeys, func(key string) bool { return fields[key] != was[key] }) {
			return old
		}
	}
	return nil
}

// celValue converts a value for rules: it escapes field names that are not valid in CEL, and
// converts numbers, times and durations according to the schema.
func celValue(value any, s *schema.Structural) any {
	if s == nil {
		return value
	}
	switch value := value.(type) {
	case map[string]any:
		fields := make(map[string]any, len(value))
		for name, v := range value {
			property, typed := s.Properties[name]
			switch {
			case typed:
				fields[escaped(name)] = celValue(v, &property)
			case s.AdditionalProperties != nil:
				fields[name] = celValue(v, s.AdditionalProperties.Structural)
			default:
				fields[name] = v
			}
		}
		return fields
	case []any:
		items := make([]any, len(value))
		for i, item := range value {
			items[i] = celValue(item, s.Items)
		}
		return items
	case int64:
		if s.Type == "number" {
			return float64(value)
		}
	case string:
		return formatted(value, s)
	}
	return value
}

func formatted(text string, s *schema.Structural) any {
	if s.ValueValidation == nil {
		return text
	}
	switch s.ValueValidation.Format {
	case "date-time":
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at
		}
	case "duration":
		if d, err := time.ParseDuration(text); err == nil {
			return d
		}
	}
	return text
}
