package regress

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// test runs nginx -t on the configurations of both sides that could be rendered.
func (r *runner) test(ctx context.Context, c Cluster, base, head rendering, res *result) error {
	var was, is *Refusal
	var baseErr, headErr error
	once := r.SameProgram && base.failed == nil && head.failed == nil && bytes.Equal(base.text, head.text)
	both(
		func() {
			if renders(base) && !once {
				was, baseErr = r.Base.Test(ctx, c)
			}
		},
		func() {
			if renders(head) {
				is, headErr = r.Head.Test(ctx, c)
			}
		},
	)
	if once {
		was, baseErr = is, headErr
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := errors.Join(baseErr, headErr); err != nil {
		res.untested = strings.ReplaceAll(err.Error(), "\n", "; ")
		return nil
	}
	mark := func(side rendering, refusal *Refusal) rendering {
		side.failed = nil
		if refusal != nil {
			side.failed = &failing{stage: StageTest, reason: refusal.Reason, line: refusal.Line}
		}
		return side
	}
	if was != nil || is != nil {
		res.failures = append(res.failures, r.failures(c, mark(base, was), mark(head, is))...)
	}
	return nil
}

func renders(r rendering) bool { return r.failed == nil || r.failed.stage != StageRender }

// failures explains the failures of a cluster. Failures of both sides for the same reason are one.
func (r *runner) failures(c Cluster, base, head rendering) []failed {
	switch {
	case base.failed != nil && head.failed != nil && likeness(base.failed.reason) == likeness(head.failed.reason):
		return []failed{r.explain(c, SidesBoth, r.Head, head)}
	case base.failed != nil && head.failed != nil:
		return []failed{r.explain(c, SideBase, r.Base, base), r.explain(c, SideHead, r.Head, head)}
	case base.failed != nil:
		return []failed{r.explain(c, SideBase, r.Base, base)}
	case head.failed != nil:
		return []failed{r.explain(c, SideHead, r.Head, head)}
	}
	return nil
}

// explain finds the template's line and the object of a failure.
func (r *runner) explain(c Cluster, sides string, side Side, rendered rendering) failed {
	f := failed{failing: *rendered.failed, sides: sides}
	if f.stage == StageRender {
		f.written = siteIn(f.reason, side.Template())
	} else if f.line > 0 {
		if lines := strings.Split(string(rendered.text), "\n"); f.line <= len(lines) {
			f.text = strings.TrimSpace(lines[f.line-1])
			f.object = objectsOf(c).before(lines[:f.line])
		}
		if _, origins, err := side.Trace(c); err == nil {
			all := origins(f.line)
			f.written = innermost(all)
			if sides == SideHead {
				f.cause = r.changed.cause(nil, all)
			} else {
				f.cause = r.changed.cause(all, nil)
			}
			if sides == SidesBoth {
				f.cause = nil
			}
		}
	}
	if f.cause == nil && sides != SidesBoth && f.written != nil {
		f.cause = r.changed.cause(nil, [][]Site{{*f.written}})
	}
	return f
}

// position matches the file and line at the beginning of an error of a template.
var position = regexp.MustCompile(`([\w.-]+):(\d+)`)

// siteIn returns the line of a template that an error names; nil if it names none.
func siteIn(reason string, files map[string]string) *Site {
	for _, found := range position.FindAllStringSubmatch(reason, -1) {
		if _, ok := files[found[1]]; ok {
			line, _ := strconv.Atoi(found[2]) // digits
			return &Site{File: found[1], Line: line}
		}
	}
	return nil
}

var varying = regexp.MustCompile(`"[^"]*"|'[^']*'|/\S+|\d+`)

// likeness returns a reason without what differs between objects and machines.
func likeness(reason string) string { return varying.ReplaceAllString(reason, "…") }

// failureKey identifies failures with the same reason.
type failureKey struct{ stage, sides, reason, written string }

func keyOfFailure(f failed) failureKey {
	key := failureKey{stage: f.stage, sides: f.sides, reason: likeness(f.reason)}
	if f.written != nil {
		key.written = f.written.String()
	}
	return key
}

func (k *collector) failure(c Cluster, f failed) {
	key := keyOfFailure(f)
	all := k.failures[key]
	if all == nil {
		all = &Failure{Stage: f.stage, Sides: f.sides}
		k.failures[key] = all
	}
	all.Clusters++
	if all.Cluster == "" || len(c.Manifests) < len(k.runner.cluster(all.Cluster).Manifests) {
		all.Reason, all.Cause, all.Written = f.reason, f.cause, f.written
		all.Cluster, all.Object, all.Line, all.Text = c.Name, f.object, f.line, f.text
	}
}

func (r *runner) cluster(name string) Cluster {
	for _, c := range r.Clusters {
		if c.Name == name {
			return c
		}
	}
	return Cluster{}
}
