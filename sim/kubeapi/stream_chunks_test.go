package kubeapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"testing"
)

type unwrapping struct{ http.ResponseWriter }

func (u unwrapping) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// Bytes that bypass net/http are part of the answer, and the connection can be used again
// afterwards. Where bypassing is not possible, net/http writes.
func TestChunks(t *testing.T) {
	for name, test := range map[string]struct {
		tls, http2, wrapped bool
		minor               int
		past                bool
	}{
		"plain":    {minor: 1, past: true},
		"TLS":      {tls: true, minor: 1, past: true},
		"HTTP/2":   {tls: true, http2: true},
		"HTTP/1.0": {},
		"wrapped":  {minor: 1, wrapped: true},
	} {
		t.Run(name, func(t *testing.T) {
			var open connections
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if !test.http2 {
					req.ProtoMinor = test.minor
				}
				writer := w
				if test.wrapped {
					writer = unwrapping{w}
				}
				c := chunkedOf(writer, req)
				if past := c != nil; past != test.past {
					t.Errorf("chunks bypass net/http: %v, want %v", past, test.past)
				}
				http.NewResponseController(w).Flush()
				if c == nil {
					io.WriteString(w, "one,two,three,")
					return
				}
				for _, parts := range [][][]byte{{[]byte("one,"), []byte("two,")}, {[]byte("three,")}} {
					if err := c.write(parts, len(parts[0])*len(parts)); err != nil {
						t.Error(err)
					}
				}
			}))
			server.Config.ConnContext = open.add
			server.EnableHTTP2 = test.http2
			if test.tls {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			for again := range 2 {
				reused := false
				ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }})
				req, err := http.NewRequestWithContext(ctx, "GET", server.URL, nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := server.Client().Do(req)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if string(body) != "one,two,three," || err != nil {
					t.Errorf("read %q, %v", body, err)
				}
				if keeps := test.http2 || test.minor == 1; reused != (again == 1 && keeps) {
					t.Errorf("request %d: connection reused: %v", again, reused)
				}
			}
		})
	}
}
