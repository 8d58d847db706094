package render

import (
	"crypto/sha1" //nolint:gosec // a name that ingress-nginx gives, not a secret
	"encoding/hex"
	"strings"
)

// URLs in annotations can contain nginx's variables anywhere. net/url would reject them, so these
// functions split URLs by hand.

// extractHostPort returns the host of a URL, and the port if there is one.
func extractHostPort(url string) string {
	_, host, _ := hostOf(url)
	return host
}

// changeHostPort returns the URL with another host and port, for example an upstream block's name.
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

// buildAuthSignURL returns the URL at which a client signs in. It adds the requested URL as the
// named parameter, unless the URL already has that parameter.
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

// buildAuthSignURLLocation returns the name of the location that redirects clients to sign in.
func buildAuthSignURLLocation(path, url string) string {
	sum := sha1.Sum([]byte(path + url)) //nolint:gosec // only a name, not a secret
	return "@" + hex.EncodeToString(sum[:])
}
