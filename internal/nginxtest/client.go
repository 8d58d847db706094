package nginxtest

import (
	"io"
	"net/http"
	"testing"
)

// Answer is a whole response.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Do sends a request and reads the response.
func Do(t testing.TB, client *http.Client, request *http.Request) Answer {
	t.Helper()
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{response.StatusCode, response.Header, string(body)}
}

// Get sends a GET request; see Do.
func Get(t testing.TB, client *http.Client, url string) Answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Do(t, client, request)
}

// Client returns a client that follows no redirects and repeats requests as Repeating does.
func Client(base http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     Repeating(base),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Repeating returns a transport that also repeats a POST if the server closes the kept-alive
// connection on which it was sent, as nginx does when a worker drains. Go repeats only idempotent
// requests by itself.
func Repeating(base http.RoundTripper) http.RoundTripper { return repeating{base} }

type repeating struct{ http.RoundTripper }

// RoundTrip marks a request as idempotent. A header without values is not sent; see
// http.Transport.
func (r repeating) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header["Idempotency-Key"] = []string{}
	return r.RoundTripper.RoundTrip(request)
}
