package rig

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/internal/plural"
)

// kinds are the kinds of locations by what the names of annotations contain; the first one applies.
var kinds = []struct{ kind, annotation string }{
	{"canary", "/canary"}, {"auth", "/auth-"}, {"snippet", "-snippet"},
	{"rewrite", "/rewrite-target"}, {"rewrite", "/use-regex"}, {"cors", "/enable-cors"}, {"limits", "/limit-"},
}

// KindOf returns the kind of an ingress. One without annotations is plain, or tls if it has TLS.
func KindOf(ingress *networkingv1.Ingress) string {
	for _, k := range kinds {
		for name := range ingress.Annotations {
			if strings.Contains(name, k.annotation) {
				return k.kind
			}
		}
	}
	switch {
	case len(ingress.Spec.TLS) > 0:
		return "tls"
	case len(ingress.Annotations) > 0:
		return "other"
	}
	return "plain"
}

// Candidates returns a target for the first path of each ingress. A path with a regular expression is
// asked for up to its first special character.
func Candidates(all []*networkingv1.Ingress) []Target {
	var targets []Target
	for _, ingress := range all {
		for _, rule := range ingress.Spec.Rules {
			if rule.Host == "" || strings.HasPrefix(rule.Host, "*") || rule.HTTP == nil || len(rule.HTTP.Paths) == 0 {
				continue
			}
			path := rule.HTTP.Paths[0].Path
			if i := strings.IndexAny(path, `([{.*+?|^$\`); i >= 0 {
				path = path[:i]
			}
			if !strings.HasPrefix(path, "/") {
				path = "/" + path
			}
			targets = append(targets, Target{Kind: KindOf(ingress), Host: rule.Host, Path: path, TLS: len(ingress.Spec.TLS) > 0})
			break
		}
	}
	return targets
}

// triesPerKind is the number of ingresses that are tried for a target of their kind.
const triesPerKind = 20

// Choose returns a target for each kind of location: the first candidate that a pod answers with
// 200. If there is none, the second choice is a location that refuses the request, and the last
// choice is a redirect. notAsked says which kinds have no target, and why.
func (r *Rig) Choose(ctx context.Context, candidates []Target) (targets []Target, notAsked []string) {
	best, tries, last := map[string]Target{}, map[string]int{}, map[string]string{}
	for _, t := range candidates {
		if tries[t.Kind] == triesPerKind || best[t.Kind].Status == http.StatusOK {
			continue
		}
		tries[t.Kind]++
		t, err := r.settle(ctx, t)
		switch {
		case err != nil:
			last[t.Kind] = err.Error()
		case t.Status >= http.StatusInternalServerError:
			last[t.Kind] = fmt.Sprintf("%s answers %d", t.URL(), t.Status)
		case best[t.Kind].Status == 0 || worth(t.Status) > worth(best[t.Kind].Status):
			best[t.Kind] = t
		}
	}
	for kind := range tries {
		if best[kind].Status == 0 {
			notAsked = append(notAsked, fmt.Sprintf("%s: none of %s is served; the last error: %s", kind, plural.Of(tries[kind], "ingress", "ingresses"), last[kind]))
		}
	}
	slices.Sort(notAsked)
	return slices.SortedFunc(maps.Values(best), func(a, b Target) int { return cmp.Compare(a.Kind, b.Kind) }), notAsked
}

// settle gets the status of a target. If the target redirects over HTTP, it tries TLS.
func (r *Rig) settle(ctx context.Context, t Target) (_ Target, err error) {
	if t.Status, err = r.Ask(ctx, t); err != nil || t.TLS || !isRedirect(t.Status) {
		return t, err
	}
	secure := t
	secure.TLS = true
	if secure.Status, err = r.Ask(ctx, secure); err == nil && worth(secure.Status) > worth(t.Status) {
		return secure, nil
	}
	return t, nil
}

func isRedirect(status int) bool { return status >= 300 && status < 400 }

// worth ranks statuses by how much of a location's configuration takes effect for requests with
// this answer.
func worth(status int) int {
	switch {
	case status == http.StatusOK:
		return 3
	case status < 300:
		return 2
	case status >= 400 && status < 500:
		return 1
	case isRedirect(status):
		return 0
	}
	return -1
}
