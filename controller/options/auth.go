package options

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// authURL matches URLs of authentication services. It allows more characters after the host than
// annotations do.
var authURL = regexp.MustCompile(`^[\-._~a-zA-Z0-9:,&= $]*//[\-._~a-zA-Z0-9:,&= $]*(?:[/?][/\-._~a-zA-Z0-9:,?&= $%+!*();@]*)?$`)

// AuthHost returns the host in a URL of external authentication, without its port. The URL must
// have a scheme and a host; both may be nginx variables.
func AuthHost(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || !HasVariablesOnly(text):
		return "", errors.New("want a URL")
	case u.Scheme == "" || u.Hostname() == "":
		return "", errors.New("want a URL with scheme and host")
	case !authURL.MatchString(text):
		return "", errors.New("want a URL")
	case strings.Contains(u.Host, ".."):
		return "", errors.New("its host has two dots in a row")
	}
	return u.Hostname(), nil
}

var bareAuthority = regexp.MustCompile(`^([a-z]+://[^/?#$]+)([?#].*)?$`)

const globalAuthURL = "global-auth-url"

// Unanswered replaces a global-auth-url that cannot be used. Locations that would use it respond
// with 503.
const Unanswered = "none:"

const denied = "503 where it would be called"

// Asks reports whether global-auth-url applies to a location with this path.
func (c Config) Asks(path string) bool {
	open := func(prefix string) bool { return prefix != "" && strings.HasPrefix(path, strings.TrimSpace(prefix)) }
	return c.GlobalAuthURL != "" && !slices.ContainsFunc(c.NoAuthLocations, open)
}

// WithPath adds the path "/" to a URL without a path. Otherwise, nginx would request the name of
// the location that sends the request (proxy_pass with variables), which is not a path. If the host
// contains variables, only nginx knows whether a path follows.
func WithPath(url string) string { return bareAuthority.ReplaceAllString(url, "$1/$2") }

func isAuthURL(text string) bool {
	_, err := AuthHost(text)
	return text == "" || err == nil
}

var verbs = []string{"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}

// IsVerb reports whether text is an HTTP method that nginx can use for authentication requests.
func IsVerb(text string) bool { return slices.Contains(verbs, text) }

func isVerb(text string) bool { return text == "" || IsVerb(text) }

var cacheTime = regexp.MustCompile(`^(?:(?:[1-5]\d\d|any) +)*\d{1,9}[smhdwMy]?$`)

// CacheDurations parses "200 202 30m, 401 1m" into parameters of proxy_cache_valid, one text per
// directive.
func CacheDurations(text string) ([]string, error) {
	var durations []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		if !isCacheTime(item) {
			return nil, fmt.Errorf("%q: want statuses and a time, such as 200 202 30m", item)
		}
		durations = append(durations, item)
	}
	return durations, nil
}

func isCacheTime(text string) bool { return cacheTime.MatchString(text) }
