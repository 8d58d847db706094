package model

import (
	"cmp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
)

// sortLocations sorts locations by descending length of path, then by descending path. nginx tries
// patterns one by one, so the most specific must come first.
func sortLocations(locations []*Location) {
	slices.SortStableFunc(locations, func(a, b *Location) int {
		return cmp.Or(cmp.Compare(len(b.Path), len(a.Path)), cmp.Compare(b.Path, a.Path))
	})
}

// isPattern reports whether nginx matches the path as a regular expression: either the path is
// rewritten, or its ingress uses regular expressions. nginx then matches all paths of the server
// that way.
func (l *Location) isPattern() bool {
	return l.Rewrite.Target != "" && l.Rewrite.Target != l.Path || l.Rewrite.UseRegex
}

// makesPatterns reports whether the location, or one that splitPrefixes derives from it, is a
// pattern. If the prefix "/p" is rewritten to itself, the derived "/p/" is a pattern.
func (l *Location) makesPatterns() bool {
	splits := *l.PathType == networkingv1.PathTypePrefix && !strings.HasSuffix(l.Path, "/") && !l.Beginning
	return l.isPattern() || splits && l.Rewrite.Target != ""
}

// splitPrefixes turns each Prefix path except "/" into two locations. nginx matches the prefix "/p"
// against "/pq", too, whereas Kubernetes matches whole path elements. So "/p" becomes the prefix
// "/p/" and the exact path "/p"; the latter only if no ingress claims it as Exact. A path that is
// rewritten or is a regular expression stays one location.
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
		if !folders[folder] { // "/p" and "/p/" of one host share a folder
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
