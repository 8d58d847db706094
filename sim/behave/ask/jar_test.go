package ask

import (
	"bufio"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"windtunnel.dev/sim/behave"
)

// A jar sends back what a browser would, and the exchanges keep the raw headers.
func TestJars(t *testing.T) {
	to := Target{Jars: &Jars{}}
	to.HTTP = serve(t, anyPort, func(c net.Conn) {
		head, _ := readRequestHead(bufio.NewReader(c))
		var cookies []string
		for _, line := range strings.Split(head, "\r\n") {
			if value, is := strings.CutPrefix(line, "Cookie: "); is {
				cookies = append(cookies, value)
			}
		}
		answer := "HTTP/1.1 200 OK\r\n"
		if strings.HasPrefix(head, "GET /set") {
			for _, cookie := range []string{"all=1; Path=/; HttpOnly", "here=2", "deep=3; Path=/set/deep", "domain=4; Domain=shop.example; Path=/", "suffix=4; Domain=example; Path=/", "other=5; Domain=other.org", "safe=6; Secure; Path=/", "gone=7; Max-Age=0; Path=/"} {
				answer += "Set-Cookie: " + cookie + "\r\n"
			}
		}
		io.WriteString(c, answer+"Content-Length: "+strconv.Itoa(len(strings.Join(cookies, "|")))+"\r\n\r\n"+strings.Join(cookies, "|"))
	})
	set := one(t, to, behave.Request{Request: "GET http://a.shop.example/set/x?y=/", Jar: "me"})
	if raw := set.Header["Set-Cookie"]; len(raw) != 8 || raw[0] != "all=1; Path=/; HttpOnly" {
		t.Errorf("%q", raw)
	}
	for _, c := range []struct {
		request behave.Request
		want    []string // cookies
	}{
		{behave.Request{Request: "GET http://a.shop.example/", Jar: "me"}, []string{"all=1", "domain=4"}},
		{behave.Request{Request: "GET http://a.shop.example:8080/set/y", Jar: "me"}, []string{"all=1", "domain=4", "here=2"}},
		{behave.Request{Request: "GET http://a.shop.example/set/deep/z", Jar: "me"}, []string{"all=1", "deep=3", "domain=4", "here=2"}},
		{behave.Request{Request: "GET http://b.shop.example/", Jar: "me"}, []string{"domain=4"}},
		{behave.Request{Request: "GET http://a.shop.example/", Jar: "you"}, nil},
		{behave.Request{Request: "GET http://a.shop.example/"}, nil},
		{behave.Request{Request: "GET http://a.shop.example/", Jar: "me", Headers: map[string]behave.Values{"Cookie": {"own=0"}}}, []string{"all=1", "domain=4", "own=0"}},
	} {
		e := one(t, to, c.request)
		var got []string
		if len(e.Body) > 0 {
			got = strings.Split(string(e.Body), "; ")
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s with jar %q: %q, want %q", c.request.Request, c.request.Jar, got, c.want)
		}
	}
}

// A later request of the same step sends what an earlier one received.
func TestJarWithinAStep(t *testing.T) {
	heads := make(chan string, 2)
	to := Target{Jars: &Jars{}, HTTP: serve(t, anyPort, func(c net.Conn) {
		head, _ := readRequestHead(bufio.NewReader(c))
		heads <- head
		io.WriteString(c, "HTTP/1.1 200 OK\r\nSet-Cookie: a=\"b c\"\r\nContent-Length: 0\r\n\r\n")
	})}
	several(t, to, behave.Request{Request: "GET http://a.example/", Jar: "me", Times: 2})
	if first, second := <-heads, <-heads; strings.Contains(first, "Cookie") || !strings.Contains(second, "Cookie: a=\"b c\"\r\n") {
		t.Errorf("%q, then %q", first, second)
	}
}
