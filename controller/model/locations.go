package model

import (
	"cmp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
)

// sortLocations puts the longest path first, those of one length in descending
// order: where nginx tries locations one by one, the most specific comes first.
func sortLocations(locations []*Location) {
	slices.SortStableFunc(locations, func(a, b *Location) int {
		return cmp.Or(cmp.Compare(len(b.Path), len(a.Path)), cmp.Compare(b.Path, a.Path))
	})
}

// isPattern tells whether a path is matched as a regular expression: it is
// rewritten, or its ingress says so. nginx then matches all of its server's
// paths that way.
func (l *Location) isPattern() bool {
	return l.Rewrite.Target != "" && l.Rewrite.Target != l.Path || l.Rewrite.UseRegex
}

// splitPrefixes makes two locations of each Prefix path but "/": nginx matches
// "/p" as a prefix of "/pq", too, and Kubernetes matches whole path elements.
// So "/p" becomes "/p/" and, exactly, "/p"; the latter only if no ingress
// claims it as Exact. A path that is rewritten or a pattern stays as it is.
func splitPrefixes(locations []*Location) []*Location {
	taken := make(map[string]bool, len(locations))
	for _, l := range locations {
		if *l.PathType == networkingv1.PathTypeExact {
			taken[l.Path] = true
		}
	}
	var split []*Location
	folders := make(map[string]bool, len(locations))
	for _, l := range locations {
		if l.Path == "/" {
			split = append(split, l)
			continue
		}
		l.IngressPath = cmp.Or(l.IngressPath, l.Path) // see readable.path
		if *l.PathType == networkingv1.PathTypeExact {
			split = append(split, l)
			continue
		}
		if l.isPattern() || l.Beginning {
			split = append(split, l)
			continue
		}
		folder := strings.TrimSuffix(l.Path, "/") + "/"
		if !folders[folder] { // "/p" and "/p/" of one host are one folder
			folders[folder] = true
			inside := *l
			inside.Path = folder
			split = append(split, &inside)
		}
		if !taken[l.Path] {
			itself := *l
			itself.PathType = exact()
			split = append(split, &itself)
		}
	}
	return split
}
