package regress

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/manifest"
)

// mostTries is the number of smaller clusters that are tried for each kind of difference.
const mostTries = 600

// mostMinimised is the number of kinds of differences for which the smallest cluster is looked for: the
// most frequent ones.
const mostMinimised = 50

// minimiseAll finds the smallest cluster for each kind of difference and for each failure of one
// side.
func (r *runner) minimiseAll(ctx context.Context, report *Report) error {
	kinds := min(len(report.Kinds), mostMinimised)
	if more := len(report.Kinds) - kinds; more > 0 {
		report.Notes = append(report.Notes, fmt.Sprintf("The smallest clusters are of the %d most frequent kinds of differences; %s none.", kinds, plural.Of(more, "other has", "others have")))
	}
	all := kinds + len(report.Failures)
	for i := range kinds {
		r.Progress("minimising", i, all)
		kind := &report.Kinds[i]
		shows := func(c Cluster) bool { return r.shows(c, kind.key) }
		kind.Minimal, kind.Needs = r.minimise(ctx, r.cluster(kind.Example.Cluster), kind.Example.Object, shows)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for i := range report.Failures {
		r.Progress("minimising", kinds+i, all)
		failure := &report.Failures[i]
		if failure.Sides == SidesBoth {
			continue
		}
		failure.Minimal, failure.Needs = r.minimise(ctx, r.cluster(failure.Cluster), failure.Object, r.fails(ctx, *failure))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	r.Progress("minimising", all, all)
	return nil
}

// shows reports whether a cluster shows a difference.
func (r *runner) shows(c Cluster, kind kindKey) bool {
	return slices.ContainsFunc(r.differences(c), func(f found) bool { return f.kind == kind })
}

// fails returns whether a cluster shows a failure.
func (r *runner) fails(ctx context.Context, f Failure) func(Cluster) bool {
	key := failureKey{stage: f.Stage, sides: f.Sides, reason: likeness(f.Reason)}
	if f.Written != nil {
		key.written = f.Written.String()
	}
	return func(c Cluster) bool {
		return slices.ContainsFunc(r.failuresAt(ctx, f.Stage, c), func(f failed) bool { return keyOfFailure(f) == key })
	}
}

// failuresAt returns why the sides cannot serve a cluster.
func (r *runner) failuresAt(ctx context.Context, stage string, c Cluster) []failed {
	base, head := r.renderBoth(c, false)
	if stage != StageTest {
		return r.failures(c, base, head)
	}
	var res result
	if err := r.test(ctx, c, base, head, &res); err != nil {
		return nil
	}
	return res.failures
}

// object is a Kubernetes object.
type object = map[string]any

// minimise returns the smallest cluster, made of parts of a cluster, that shows something, and the
// settings without which it would not: delta debugging over objects, then over the parts of each.
// It returns nil if not even the cluster itself shows it.
func (r *runner) minimise(ctx context.Context, c Cluster, affected string, shows func(Cluster) bool) (*Minimal, []string) {
	parsed, err := manifest.Parse(c.Name, c.Manifests)
	if err != nil {
		return nil, nil
	}
	var all []object
	for _, m := range parsed {
		all = append(all, m.Object.Object)
	}
	tries := 0
	try := func(objects []object) bool {
		tries++
		return tries <= mostTries && ctx.Err() == nil && shows(clusterOf(c.Name, objects))
	}
	start, ok := smallestStart(all, affected, try)
	if !ok {
		return nil, nil
	}
	objects := reduce(start, try)
	for i := range objects {
		objects[i] = reduceObject(objects[i], func(o object) bool {
			changed := slices.Clone(objects)
			changed[i] = o
			return try(changed)
		})
	}
	text := clusterOf(c.Name, objects).Manifests
	minimal := &Minimal{Manifests: string(text)}
	var needs []string
	for _, o := range objects {
		minimal.Objects = append(minimal.Objects, title(o))
		needs = append(needs, settings(o)...)
	}
	slices.Sort(needs)
	return minimal, slices.Compact(needs)
}

// smallestStart returns the first of these parts of a cluster that shows the difference: nothing,
// the affected objects alone, the affected objects with all objects that are not ingresses, and
// everything.
func smallestStart(all []object, affected string, try func([]object) bool) ([]object, bool) {
	isAffected := func(o object) bool { return slices.Contains(strings.Split(affected, ", "), title(o)) }
	only := func(keep func(object) bool) (some []object) {
		for _, o := range all {
			if keep(o) {
				some = append(some, o)
			}
		}
		return some
	}
	for _, some := range [][]object{
		nil,
		only(isAffected),
		only(func(o object) bool { return isAffected(o) || kindOf(o) == "ConfigMap" }),
		only(func(o object) bool { return isAffected(o) || kindOf(o) != "Ingress" }),
		all,
	} {
		if try(some) {
			return some, true
		}
	}
	return nil, false
}

// reduce returns a minimal part of a list for which the condition still holds. It is the algorithm
// ddmin of Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input".
func reduce[T any](items []T, holds func([]T) bool) []T {
	for parts := 2; len(items) > 0; {
		size := (len(items) + parts - 1) / parts
		smaller := false
		for begin := 0; begin < len(items); begin += size {
			end := min(begin+size, len(items))
			rest := slices.Concat(items[:begin], items[end:])
			if holds(rest) {
				items, parts, smaller = rest, max(parts-1, 2), true
				break
			}
		}
		switch {
		case smaller:
		case size == 1:
			return items
		default:
			parts = min(parts*2, len(items))
		}
	}
	return items
}

// reduceObject leaves out fields of an object, and items of its lists, as long as it holds.
func reduceObject(o object, holds func(object) bool) object {
	for _, path := range [][]string{
		{"status"}, {"metadata", "labels"}, {"metadata", "annotations"}, {"metadata", "creationTimestamp"}, {"metadata", "uid"},
		{"data"}, {"stringData"}, {"type"}, {"immutable"},
		{"spec", "tls"}, {"spec", "defaultBackend"}, {"spec", "ingressClassName"}, {"spec", "rules"},
		{"spec", "selector"}, {"spec", "ports"}, {"spec", "type"}, {"endpoints"}, {"ports"},
	} {
		o = reduceField(o, path, holds)
	}
	rules, _, _ := unstructured.NestedSlice(o, "spec", "rules")
	for i := range rules {
		o = reducePaths(o, i, holds)
	}
	return o
}

// reduceField leaves out a field, or else as much as possible of its entries or items.
func reduceField(o object, path []string, holds func(object) bool) object {
	value, found, err := unstructured.NestedFieldNoCopy(o, path...)
	if !found || err != nil {
		return o
	}
	with := func(value any) object {
		changed := (&unstructured.Unstructured{Object: o}).DeepCopy().Object
		if value == nil {
			unstructured.RemoveNestedField(changed, path...)
		} else if err := unstructured.SetNestedField(changed, value, path...); err != nil {
			return o
		}
		return changed
	}
	if without := with(nil); holds(without) {
		return without
	}
	switch value := value.(type) {
	case map[string]any:
		keep := func(keys []string) any {
			some := map[string]any{}
			for _, key := range keys {
				some[key] = value[key]
			}
			return some
		}
		keys := reduce(slices.Sorted(maps.Keys(value)), func(keys []string) bool { return holds(with(keep(keys))) })
		return with(keep(keys))
	case []any:
		return with(reduce(value, func(some []any) bool { return len(some) > 0 && holds(with(some)) }))
	}
	return o
}

// reducePaths leaves out paths of a rule.
func reducePaths(o object, rule int, holds func(object) bool) object {
	with := func(paths []any) object {
		changed := (&unstructured.Unstructured{Object: o}).DeepCopy().Object
		rules, _, _ := unstructured.NestedSlice(changed, "spec", "rules")
		if of, ok := rules[rule].(map[string]any); ok && unstructured.SetNestedSlice(of, paths, "http", "paths") == nil {
			_ = unstructured.SetNestedSlice(changed, rules, "spec", "rules") // it was read from there
		}
		return changed
	}
	rules, _, _ := unstructured.NestedSlice(o, "spec", "rules")
	of, _ := rules[rule].(map[string]any)
	paths, found, _ := unstructured.NestedSlice(of, "http", "paths")
	if !found {
		return o
	}
	return with(reduce(paths, func(some []any) bool { return len(some) > 0 && holds(with(some)) }))
}

// clusterOf returns a cluster with some objects.
func clusterOf(name string, objects []object) Cluster {
	var text bytes.Buffer
	for i, o := range objects {
		document, err := yaml.Marshal(o)
		if err != nil {
			continue // it was read from YAML
		}
		if i > 0 {
			text.WriteString("---\n")
		}
		text.Write(document)
	}
	return NewCluster(name, text.Bytes())
}

func kindOf(o object) string { return (&unstructured.Unstructured{Object: o}).GetKind() }

// title returns the kind, namespace and name of an object.
func title(o object) string {
	u := &unstructured.Unstructured{Object: o}
	namespace := u.GetNamespace()
	if namespace == "" {
		namespace = "default"
	}
	return fmt.Sprintf("%s %s/%s", u.GetKind(), namespace, u.GetName())
}

// settings returns the annotations of an ingress, and the keys of a ConfigMap.
func settings(o object) []string {
	u := &unstructured.Unstructured{Object: o}
	var all []string
	switch u.GetKind() {
	case "Ingress":
		for name := range u.GetAnnotations() {
			_, short, _ := strings.Cut(name, "/")
			all = append(all, "annotation "+short)
		}
	case "ConfigMap":
		data, _, _ := unstructured.NestedMap(o, "data")
		for key := range data {
			all = append(all, "ConfigMap key "+key)
		}
	}
	return all
}
