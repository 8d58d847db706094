package render

import (
	"crypto/sha1" //nolint:gosec // a name that ingress-nginx gives, not a secret
	"encoding/hex"
	"strings"
)

// A URL of an annotation may have nginx's variables anywhere, so these cut it
// by hand where net/url would refuse it.

// extractHostPort is the host of a URL, with the port if it has one.
func extractHostPort(url string) string {
	_, host, _ := hostOf(url)
	return host
}

// changeHostPort is the URL with another host and port, such as an upstream block's.
func changeHostPort(url, host string) string {
	scheme, old, rest := hostOf(url)
	if old == "" {
		return ""
	}
	return scheme + host + rest
}

func hostOf(url string) (scheme, host, rest string) {
	name, after, ok := strings.Cut(url, "://")
	if !ok {
		return "", "", url
	}
	end := strings.IndexAny(after, "/?#")
	if end < 0 {
		end = len(after)
	}
	return name + "://", after[:end], after[end:]
}

// buildAuthSignURL is where a client logs in: told, in the parameter of that
// name, what it asked for, unless the URL has such a parameter already.
func buildAuthSignURL(url, parameter string) string {
	if parameter == "" {
		parameter = "rd"
	}
	_, query, asked := strings.Cut(url, "?")
	query, _, _ = strings.Cut(query, "#")
	for pair := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(pair, "="); name == parameter {
			return url
		}
	}
	separator := "?"
	if asked {
		separator = "&"
	}
	return url + separator + parameter + "=$pass_access_scheme://$http_host$escaped_request_uri"
}

// buildAuthSignURLLocation is the name of the location that sends clients there.
func buildAuthSignURLLocation(path, url string) string {
	sum := sha1.Sum([]byte(path + url)) //nolint:gosec // see above
	return "@" + hex.EncodeToString(sum[:])
}
