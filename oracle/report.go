package main

import (
	"fmt"
	"slices"
	"strings"
)

// reportOf returns the report: the stories, and their differences.
func reportOf(o options, outcomes []outcome, f *findings) string {
	var b strings.Builder
	fmt.Fprintln(&b, "# The simulated API server against a real one\n\nWritten by `make oracle`; do not edit.")
	fmt.Fprintln(&b)
	fmt.Fprintln(&b, "| | |\n|---|---|")
	fmt.Fprintf(&b, "| real server | kube-apiserver %s, etcd %s |\n", realVersion, etcdVersion)
	fmt.Fprintf(&b, "| random stories | %d of %d requests, seeds from %d |\n", o.sessions, o.length, o.seed)
	fmt.Fprintf(&b, "| managedFields compared | %v |\n\n", o.managedFields)
	writeOutcomes(&b, outcomes)
	writeUnlisted(&b, f.unlisted)
	writeAllowed(&b, f.allowances)
	return b.String()
}

func writeOutcomes(b *strings.Builder, outcomes []outcome) {
	fmt.Fprintln(b, "## What was compared\n\n| story | requests | watch events | listed differences | others |\n|---|---:|---:|---:|---:|")
	var random, all outcome
	row := func(name string, o outcome) {
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d |\n", name, o.requests, o.events, o.allowed, o.unlisted)
	}
	diverged := 0
	for _, o := range outcomes {
		all.add(o)
		if o.story.random {
			random.add(o)
			if o.stopped != "" {
				diverged++
			}
			continue
		}
		name := o.story.name
		if o.stopped != "" {
			name += " (stopped at " + o.stopped + ")"
		}
		row(name, o)
	}
	row(fmt.Sprintf("random stories (%d stopped where the servers diverged)", diverged), random)
	row("**all**", all)
	fmt.Fprintln(b)
}

func (o *outcome) add(p outcome) {
	o.requests += p.requests
	o.events += p.events
	o.allowed += p.allowed
	o.unlisted += p.unlisted
}

func writeUnlisted(b *strings.Builder, unlisted []*finding) {
	if len(unlisted) == 0 {
		fmt.Fprintln(b, "No difference is unlisted.")
		fmt.Fprintln(b)
		return
	}
	fmt.Fprintln(b, "## Differences that are not listed")
	fmt.Fprintln(b)
	slices.SortStableFunc(unlisted, func(x, y *finding) int { return strings.Compare(x.signature(), y.signature()) })
	for _, f := range unlisted {
		fmt.Fprintf(b, "### %s: %s (%d times)\n\n- ours: `%s`\n- real: `%s`\n- first in story %s:\n\n", f.Where, f.Path, f.count, shortened(f.Ours), shortened(f.Real), f.Story)
		for line := range strings.SplitSeq(f.Request, "\n") {
			fmt.Fprintln(b, "      "+line)
		}
		fmt.Fprintln(b)
	}
}

func writeAllowed(b *strings.Builder, allowances []*allowance) {
	for _, part := range []struct {
		title string
		open  bool
	}{{"Listed differences that stay", false}, {"Listed differences still to be fixed", true}} {
		fmt.Fprintf(b, "## %s\n\n| request | in the response | times | reason |\n|---|---|---:|---|\n", part.title)
		for _, a := range allowances {
			if a.Open == part.open {
				fmt.Fprintf(b, "| %s | %s | %d | %s |\n", cell(a.Where), cell(a.Path), a.count, strings.ReplaceAll(strings.TrimSpace(a.Reason), "\n", " "))
			}
		}
		fmt.Fprintln(b)
	}
}

func cell(pattern string) string {
	if pattern == "" {
		return "any"
	}
	return "`" + strings.ReplaceAll(pattern, "|", `\|`) + "`"
}

// shortened truncates long values.
func shortened(text string) string {
	const longest = 300
	if len(text) > longest {
		return text[:longest] + " …"
	}
	return text
}
