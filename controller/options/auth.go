package options

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var authURL = regexp.MustCompile(`^[/\-._~a-zA-Z0-9:,?&= $]*$`)

// AuthHost is the host that a URL of external authentication names, without
// its port. The URL must have a scheme and a host; both may be nginx variables.
func AuthHost(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || !authURL.MatchString(text) || !HasVariablesOnly(text):
		return "", errors.New("want a URL")
	case u.Scheme == "" || u.Hostname() == "":
		return "", errors.New("want a URL with scheme and host")
	case strings.Contains(u.Host, ".."):
		return "", errors.New("its host has two dots in a row")
	}
	return u.Hostname(), nil
}

var bareAuthority = regexp.MustCompile(`^([a-z]+://[^/?#$]+)([?#].*)?$`)

const globalAuthURL = "global-auth-url"

// Unanswered is the global-auth-url in the place of one that cannot be asked:
// locations that would ask it answer 503.
const Unanswered = "none:"

const denied = "503 where it would be asked"

// Asks tells whether a location whose path is path has the service of
// global-auth-url asked, as far as the ConfigMap says.
func (c Config) Asks(path string) bool {
	open := func(prefix string) bool { return prefix != "" && strings.HasPrefix(path, strings.TrimSpace(prefix)) }
	return c.GlobalAuthURL != "" && !slices.ContainsFunc(c.NoAuthLocations, open)
}

// WithPath gives a URL without a path the path "/". Without any, nginx asks
// for the name of the location that asks (proxy_pass with variables), which is
// no path. Where the host has variables, only nginx knows whether a path follows.
func WithPath(url string) string { return bareAuthority.ReplaceAllString(url, "$1/$2") }

func isAuthURL(text string) bool {
	_, err := AuthHost(text)
	return text == "" || err == nil
}

var verbs = []string{"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}

// IsVerb tells whether text is a method of HTTP that nginx can ask with.
func IsVerb(text string) bool { return slices.Contains(verbs, text) }

func isVerb(text string) bool { return text == "" || IsVerb(text) }

var cacheTime = regexp.MustCompile(`^(?:(?:[1-5]\d\d|any) +)*\d{1,9}[smhdwMy]?$`)

// CacheDurations reads "200 202 30m, 401 1m" into the parameters of
// proxy_cache_valid, one text a directive.
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
