package hunt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/mutate"
)

// baseline is what the cases do without mutants.
type baseline struct {
	Template   string              // a hash of the template that was marked
	Cases      map[string]string   // hashes of the texts of the cases, by name
	Passed     []string            // the cases that pass
	Reach      map[string][]string // the cases that execute a line of the template
	Rejections []string            // why nginx rejects configurations of cases that are about that
}

// of returns the baseline without what other cases than these say: those that are new or were
// changed have to be run. Of another template, nothing remains.
func (b baseline) of(template string, cases map[string]string) baseline {
	if b.Template != template {
		return baseline{Template: template, Cases: map[string]string{}, Reach: map[string][]string{}}
	}
	other := func(name string) bool { return b.Cases[name] != cases[name] }
	b.Passed = slices.DeleteFunc(b.Passed, other)
	for site, names := range b.Reach {
		b.Reach[site] = slices.DeleteFunc(names, other)
	}
	maps.DeleteFunc(b.Cases, func(name, _ string) bool { return other(name) })
	return b
}

func hash(texts map[string]string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(sum, "%q=%q;", name, texts[name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// extend runs the cases that a baseline lacks with the marked template. Those that fail are run again,
// because a busy machine can be the reason.
func (h *hunt) extend(ctx context.Context, b baseline, hashes map[string]string) (baseline, error) {
	var mu sync.Mutex
	lines := map[string]map[string]bool{} // the cases of each line
	served := func(c *behave.Case, conf []byte) {
		reached := mutate.ReadMarks(string(conf))
		mu.Lock()
		defer mu.Unlock()
		note := func(sites map[string]bool) {
			for site := range sites {
				if lines[site] == nil {
					lines[site] = map[string]bool{}
				}
				lines[site][c.Name] = true
			}
		}
		note(reached.Everywhere)
		own := hosts(c)
		for server, sites := range reached.Servers {
			if other := h.ownerOf(server); other == nil || other == c || own[strings.TrimPrefix(server, "www.")] {
				note(sites)
			}
		}
	}
	left := slices.DeleteFunc(slices.Clone(h.Run.Cases), func(c *behave.Case) bool { return b.Cases[c.Name] != "" })
	h.Log("running %d of %d cases without mutants", len(left), len(h.Run.Cases))
	maps.Copy(b.Cases, hashes)
	var passed []string
	for range 2 {
		o := h.Run
		o.Cases, o.Installations, o.Served, o.Done = left, h.Workers, served, nil
		results, rejections, err := h.run(ctx, o, mutate.Marked(h.Template), nil)
		if err != nil {
			return b, err
		}
		b.Rejections = append(b.Rejections, rejections...)
		left = nil
		for _, r := range results {
			switch {
			case r.Outcome == behave.Passed || r.Outcome == behave.Differs:
				passed = append(passed, r.Case)
			case r.Outcome != behave.Skipped:
				left = append(left, h.cases[r.Case])
			}
		}
	}
	for site, names := range lines {
		for _, name := range passed {
			if names[name] {
				b.Reach[site] = append(b.Reach[site], name)
			}
		}
		slices.Sort(b.Reach[site])
	}
	b.Passed = append(b.Passed, passed...)
	slices.Sort(b.Passed)
	return b, ctx.Err()
}

// ownerOf returns the case that has an ingress for a server; nil if it is that of no case, such as
// the default server.
func (h *hunt) ownerOf(server string) *behave.Case {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.owners == nil {
		h.owners = map[string]*behave.Case{}
		for _, c := range h.Run.Cases {
			for host := range hosts(c) {
				h.owners[host] = c
			}
		}
	}
	return h.owners[strings.TrimPrefix(server, "www.")]
}

// hosts returns the hosts of a case's ingresses, without www.
func hosts(c *behave.Case) map[string]bool {
	all := map[string]bool{}
	add := func(host string) {
		if host != "" {
			all[strings.TrimPrefix(strings.ToLower(host), "www.")] = true
		}
	}
	for _, m := range c.Manifests {
		if m.Object.GetKind() != "Ingress" {
			continue
		}
		rules, _, _ := unstructured.NestedSlice(m.Object.Object, "spec", "rules")
		for _, rule := range rules {
			fields, _ := rule.(map[string]any)
			host, _ := fields["host"].(string)
			add(host)
		}
		for name, value := range m.Object.GetAnnotations() {
			if strings.HasSuffix(name, "/server-alias") {
				for alias := range strings.SplitSeq(value, ",") {
					add(strings.TrimSpace(alias))
				}
			}
		}
	}
	return all
}
