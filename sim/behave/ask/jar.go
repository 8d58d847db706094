package ask

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/net/publicsuffix"

	"windtunnel.dev/sim/behave"
)

// Jars are cookie jars by name. They send back cookies by the rules of browsers (RFC 6265): for
// the domain and the path, until they expire, secure ones over TLS only. The zero value is ready
// for use, by several goroutines.
type Jars struct {
	mu    sync.Mutex
	named map[string]http.CookieJar
}

// get returns the jar with a name, which it creates when it is first asked for.
func (j *Jars) get(name string) (http.CookieJar, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if jar := j.named[name]; jar != nil {
		return jar, nil
	}
	jar, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	if err != nil {
		return nil, err
	}
	if j.named == nil {
		j.named = map[string]http.CookieJar{}
	}
	j.named[name] = jar
	return jar, nil
}

func (c *call) setJar(to Target, r behave.Request) (err error) {
	if r.Jar == "" {
		return nil
	}
	if to.Jars == nil {
		return fmt.Errorf("jar %s: there are no cookie jars", r.Jar)
	}
	c.jar, err = to.Jars.get(r.Jar)
	return err
}

// cookieURL is the URL that selects the cookies to send. Its path is not decoded (RFC 6265, section
// 5.1.4: the path of the request's URI).
func (c *call) cookieURL() *url.URL {
	path, _, _ := strings.Cut(c.target, "?")
	return &url.URL{Scheme: c.scheme, Host: c.authority, Path: path}
}

// withCookies returns the fields with the jar's cookies, after those that the case itself gives.
func (c *call) withCookies() []field {
	if c.jar == nil {
		return c.fields
	}
	r := http.Request{Header: http.Header{}}
	for _, cookie := range c.jar.Cookies(c.cookieURL()) {
		r.AddCookie(cookie)
	}
	cookies := r.Header.Get("Cookie")
	if cookies == "" {
		return c.fields
	}
	fields := append([]field{}, c.fields...)
	for i, f := range fields {
		if f.is("Cookie") {
			fields[i].value += "; " + cookies
			return fields
		}
	}
	return append(fields, field{"Cookie", cookies})
}

func (c *call) keepCookies(e *behave.Exchange) {
	if c.jar == nil {
		return
	}
	c.jar.SetCookies(c.cookieURL(), (&http.Response{Header: e.Header}).Cookies())
}
