package regress

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"windtunnel.dev/sim/regress/conf"
)

// compare renders and tests all clusters, several at a time, and collects what differs.
func (r *runner) compare(ctx context.Context, report *Report) error {
	k := newCollector(r)
	results := make([]result, len(r.Clusters))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	done := 0
	for i, cluster := range r.Clusters {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			results[i], err = r.one(ctx, cluster)
			mu.Lock()
			defer mu.Unlock()
			done++
			r.Progress("clusters", done, len(r.Clusters))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, result := range results {
		k.add(r.Clusters[i], result, report)
	}
	k.finish(report)
	return nil
}

// result is the result of the comparison for a cluster.
type result struct {
	status   status
	found    []found
	failures []failed
	blocks   [2]map[string]int // the number of blocks of each place, for base and head
	untested string
}

type status int

const (
	identical status = iota
	same
	differing
	broken
)

// found is a difference with its explanation.
type found struct {
	conf.Difference
	kind    kindKey
	cause   *Cause
	written Written
	object  string
	block   string // identifies the block around it within the cluster
}

// failed is a failure of a side, or of both.
type failed struct {
	failing
	sides   string
	cause   *Cause
	written *Site
	object  string
	text    string
}

// one renders, compares and tests one cluster.
func (r *runner) one(ctx context.Context, c Cluster) (result, error) {
	var res result
	base, head := r.renderBoth(c, false)
	if err := ctx.Err(); err != nil {
		return res, err // the steps below render again, which takes long for a large cluster
	}
	switch {
	case base.failed != nil || head.failed != nil:
		res.status = broken
		res.failures = append(res.failures, r.failures(c, base, head)...)
	case bytes.Equal(base.text, head.text):
		res.status = identical
	default:
		res.found = r.differences(c)
		res.status = same
		if len(res.found) > 0 {
			res.status = differing
		}
	}
	if !r.does(RenderedPart) {
		res.found = nil
	}
	res.blocks = [2]map[string]int{countBlocks(base.tree), countBlocks(head.tree)}
	if r.does(TestedPart) {
		if err := r.test(ctx, c, base, head, &res); err != nil {
			return res, err
		}
	}
	return res, nil
}

func (r *runner) renderBoth(c Cluster, traced bool) (base, head rendering) {
	both(func() { base = render(r.Base, c, traced) }, func() { head = render(r.Head, c, traced) })
	return base, head
}

// differences compares the configurations of a cluster and explains each difference.
func (r *runner) differences(c Cluster) []found {
	base, head := r.renderBoth(c, true)
	if base.failed != nil || head.failed != nil {
		return nil
	}
	objects := objectsOf(c)
	var all []found
	for _, d := range conf.Compare(base.tree, head.tree) {
		was, is := originsOf(base.origins, d.Base), originsOf(head.origins, d.Head)
		f := found{
			Difference: d,
			cause:      r.changed.cause(was, is),
			written:    Written{Base: innermost(was), Head: innermost(is)},
			object:     objects.around(d.Path, d.Any()),
			block:      blockName(d),
		}
		f.kind = keyOf(f)
		all = append(all, f)
	}
	return all
}

// kindKey identifies a kind of difference.
type kindKey struct {
	change conf.Change
	place  string
	name   string
	cause  string
}

func keyOf(f found) kindKey {
	return kindKey{change: f.Change, place: f.Place(), name: f.Any().Name, cause: keyOfCause(f)}
}

func keyOfCause(f found) string {
	switch {
	case f.cause != nil:
		return f.cause.Side + " " + f.cause.Site.String()
	case f.written.Head != nil:
		return f.written.Head.String()
	case f.written.Base != nil:
		return f.written.Base.String()
	}
	return ""
}

// blockName identifies the block around a difference that counts: the location, the server, and so on.
func blockName(d conf.Difference) string {
	var names []string
	depth := 0
	if unit := Unit(d.Place()); unit != "" {
		depth = 1 + strings.Count(unit, "/")
	}
	for _, block := range d.Path[:depth] {
		names = append(names, conf.Title(block))
	}
	return strings.Join(names, " > ")
}

// Unit returns the place of the blocks that a report counts for a place: the conditions within a
// location are not counted, but the location is.
func Unit(place string) string {
	for {
		outer, last := path.Split(place)
		if last != "if" && last != "limit_except" {
			return place
		}
		place = strings.TrimSuffix(outer, "/")
	}
}

// countBlocks counts the blocks of a configuration by their place; "" is the configuration itself.
func countBlocks(tree []*conf.Directive) map[string]int {
	counts := map[string]int{"": 1}
	var count func(list []*conf.Directive, place string)
	count = func(list []*conf.Directive, place string) {
		for _, d := range list {
			if !d.IsBlock {
				continue
			}
			inner := strings.TrimPrefix(place+"/"+d.Name, "/")
			counts[inner]++
			count(d.Block, inner)
		}
	}
	count(tree, "")
	return counts
}

// collector groups the results of all clusters.
type collector struct {
	runner   *runner
	kinds    map[kindKey]*group
	failures map[failureKey]*Failure
	blocks   [2]map[string]int
}

// group is a kind of difference with all its occurrences.
type group struct {
	Kind
	blocks   map[string]bool
	clusters map[string]bool
	objects  map[string]bool
	smallest int // bytes of the cluster of the example
	values   map[string]bool
	were     map[string]bool
}

func newCollector(r *runner) *collector {
	return &collector{runner: r, kinds: map[kindKey]*group{}, failures: map[failureKey]*Failure{}, blocks: [2]map[string]int{{}, {}}}
}

func (k *collector) add(c Cluster, res result, report *Report) {
	switch res.status {
	case identical:
		report.Clusters.Identical++
	case same:
		report.Clusters.Same++
	case differing:
		report.Clusters.Differing++
	case broken:
		report.Clusters.Failed++
	}
	for side, counts := range res.blocks {
		for place, n := range counts {
			k.blocks[side][place] += n
		}
	}
	for _, f := range res.found {
		k.difference(c, f)
	}
	for _, f := range res.failures {
		k.failure(c, f)
	}
	if res.untested != "" {
		report.Untested = append(report.Untested, fmt.Sprintf("%s: %s", c.Name, res.untested))
	}
}

func (k *collector) difference(c Cluster, f found) {
	g := k.kinds[f.kind]
	if g == nil {
		g = &group{Kind: Kind{key: f.kind}, blocks: map[string]bool{}, clusters: map[string]bool{}, objects: map[string]bool{}, values: map[string]bool{}, were: map[string]bool{}}
		k.kinds[f.kind] = g
	}
	g.blocks[c.Name+"\x00"+f.block] = true
	g.clusters[c.Name] = true
	g.values[f.Any().String()] = true
	if f.Change == conf.Changed {
		g.were[f.Base.String()] = true
	}
	if f.object != "" {
		g.objects[f.object] = true
	}
	if g.smallest == 0 || len(c.Manifests) < g.smallest {
		g.smallest = len(c.Manifests)
		g.Change, g.Place, g.Cause, g.Written = f.Change, f.Place(), f.cause, f.written
		g.Example = exampleOf(c, f)
	}
}

func exampleOf(c Cluster, f found) Example {
	e := Example{Cluster: c.Name, Object: f.object}
	for _, block := range f.Path {
		e.Path = append(e.Path, conf.Title(block))
	}
	if f.Base != nil {
		e.BaseLine, e.Base = f.Base.Line, f.Base.String()
	}
	if f.Head != nil {
		e.HeadLine, e.Head = f.Head.Line, f.Head.String()
	}
	return e
}

// mostObjects is the number of objects that a report names for each kind of difference.
const mostObjects = 5

func (k *collector) finish(report *Report) {
	for _, g := range k.kinds {
		g.Blocks, g.Clusters = len(g.blocks), len(g.clusters)
		g.Of = max(k.blocks[0][Unit(g.Place)], k.blocks[1][Unit(g.Place)], g.Blocks)
		g.Directive, g.Was = oneValue(g.values), oneValue(g.were)
		g.Objects = sorted(g.objects)
		if more := len(g.Objects) - mostObjects; more > 0 {
			g.Objects, g.MoreObjects = g.Objects[:mostObjects], more
		}
		report.Kinds = append(report.Kinds, g.Kind)
	}
	slices.SortFunc(report.Kinds, byFrequency)
	for _, f := range k.failures {
		report.Failures = append(report.Failures, *f)
	}
	slices.SortFunc(report.Failures, byImportance)
}

// oneValue returns the directive if there is only one, otherwise its name and an ellipsis.
func oneValue(values map[string]bool) string {
	all := sorted(values)
	if len(all) == 0 {
		return ""
	}
	if len(all) == 1 {
		return all[0]
	}
	name, _, _ := strings.Cut(all[0], " ")
	if strings.HasSuffix(all[0], "{…}") {
		return name + " … {…}"
	}
	return name + " …"
}
