package regress

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/sim/regress/conf"
)

// TemplateSetting stands for the template among the settings of HeadWith.
const TemplateSetting = "template"

// explainBySettings names the settings that explain a difference. If only one setting differs, it
// explains everything. Otherwise they are the settings that base needs to show the difference as
// head does. If the template is not among them, no line of it is the cause.
func (r *runner) explainBySettings(ctx context.Context, report *Report) error {
	if len(r.Settings) == 0 {
		return nil
	}
	differ := r.Settings
	if !maps.Equal(r.Base.Template(), r.Head.Template()) {
		differ = append([]string{TemplateSetting}, differ...)
	}
	explain := func(cause **Cause, settings *[]string, c Cluster, shows func(*runner, Cluster) bool) error {
		needed, err := r.needed(ctx, differ, c, shows)
		if err != nil || len(needed) == 0 {
			return err
		}
		if !slices.Contains(needed, TemplateSetting) {
			*cause = nil
		}
		*settings = slices.DeleteFunc(slices.Clone(needed), func(s string) bool { return s == TemplateSetting })
		return nil
	}
	all := len(report.Kinds) + len(report.Failures)
	for i := range report.Kinds {
		r.Progress("explaining", i, all)
		k := &report.Kinds[i]
		if err := explain(&k.Cause, &k.Settings, r.smallest(k.Example.Cluster, k.Minimal), r.showsAgain(k.key)); err != nil {
			return err
		}
	}
	for i := range report.Failures {
		r.Progress("explaining", len(report.Kinds)+i, all)
		f := &report.Failures[i]
		if f.Sides == SidesBoth {
			continue
		}
		failsAgain := func(with *runner, c Cluster) bool {
			return slices.ContainsFunc(with.failuresAt(ctx, f.Stage, c), func(other failed) bool {
				return other.sides == f.Sides && likeness(other.reason) == likeness(f.Reason)
			})
		}
		if err := explain(&f.Cause, &f.Settings, r.smallest(f.Cluster, f.Minimal), failsAgain); err != nil {
			return err
		}
	}
	r.Progress("explaining", all, all)
	return nil
}

// showsAgain returns a function that reports whether a cluster shows a difference on other sides, with the
// same values, regardless of the template lines that write it. All its calls must be for one cluster.
func (r *runner) showsAgain(kind kindKey) func(*runner, Cluster) bool {
	text := func(d conf.Difference) [4]string {
		return [4]string{string(d.Change), d.Place(), textOf(d.Base), textOf(d.Head)}
	}
	var wanted *[4]string
	return func(with *runner, c Cluster) bool {
		if wanted == nil {
			all := r.differences(c)
			i := slices.IndexFunc(all, func(f found) bool { return f.kind == kind })
			if i < 0 {
				return false
			}
			wanted = new(text(all[i].Difference))
		}
		base, head := with.renderBoth(c, false)
		return slices.ContainsFunc(conf.Compare(base.tree, head.tree), func(d conf.Difference) bool { return text(d) == *wanted })
	}
}

func textOf(d *conf.Directive) string {
	if d == nil {
		return ""
	}
	return d.String()
}

// smallest returns the smallest known cluster that shows something.
func (r *runner) smallest(cluster string, minimal *Minimal) Cluster {
	if minimal != nil {
		return NewCluster(cluster, []byte(minimal.Manifests))
	}
	return r.cluster(cluster)
}

// needed returns a minimal set of settings with which a cluster shows something. It returns nil if
// there is no way to find out.
func (r *runner) needed(ctx context.Context, differ []string, c Cluster, shows func(*runner, Cluster) bool) ([]string, error) {
	if len(differ) == 1 {
		return differ, nil
	}
	if r.HeadWith == nil || !shows(r, c) {
		return nil, nil
	}
	known := map[string]bool{}
	var failed error
	needed := reduce(differ, func(settings []string) bool {
		key := strings.Join(settings, ", ")
		if shown, tried := known[key]; tried || failed != nil {
			return shown
		}
		if failed = ctx.Err(); failed != nil {
			return false
		}
		head, err := r.HeadWith(slices.Clone(settings))
		if err != nil {
			failed = fmt.Errorf("base with %s of head: %w", key, err)
			return false
		}
		with := &runner{Options: r.Options, changed: r.changed}
		with.Head = head
		known[key] = shows(with, c)
		return known[key]
	})
	return needed, failed
}
