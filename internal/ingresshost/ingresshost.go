// Package ingresshost reads the annotations of an ingress that add hosts to those of its rules. Its one
// rule: users may choose the prefix of annotations, so it accepts every prefix.
package ingresshost

import "strings"

// Aliases returns the names in the annotation server-alias, as written. Those that begin with ~ are
// regular expressions.
func Aliases(annotations map[string]string) []string {
	var all []string
	for key, value := range annotations {
		if !strings.HasSuffix(key, "/server-alias") {
			continue
		}
		for alias := range strings.SplitSeq(value, ",") {
			if alias = strings.TrimSpace(alias); alias != "" {
				all = append(all, alias)
			}
		}
	}
	return all
}

// RedirectsWWW reports whether the annotation from-to-www-redirect is on. If it is, OtherWWW of each
// host redirects to that host.
func RedirectsWWW(annotations map[string]string) bool {
	for key, value := range annotations {
		if strings.HasSuffix(key, "/from-to-www-redirect") && value == "true" {
			return true
		}
	}
	return false
}

// OtherWWW returns a host with www. added or, if the host begins with www., removed.
func OtherWWW(host string) string {
	if bare, found := strings.CutPrefix(host, "www."); found {
		return bare
	}
	return "www." + host
}

// WildcardCovers reports whether a wildcard host stands for another host. As in nginx, it stands for any
// number of labels: *.example covers a.example and a.b.example. Both are in lower case.
func WildcardCovers(wildcard, host string) bool {
	suffix, is := strings.CutPrefix(wildcard, "*")
	return is && strings.HasSuffix(host, suffix)
}

// CertificateCovers reports whether a name of a certificate is valid for a host. A wildcard stands for
// one label. Both are in lower case.
func CertificateCovers(name, host string) bool {
	suffix, wildcard := strings.CutPrefix(name, "*")
	label, found := strings.CutSuffix(host, suffix)
	return name == host || wildcard && found && label != "" && !strings.Contains(label, ".")
}
