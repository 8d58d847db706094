package ask

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"windtunnel.dev/sim/behave"
)

// frames is a server of HTTP/2 that shows the bytes of the fields: it reads the header and the body
// of each request, and calls answer. It accepts a number of streams at the same time.
func frames(t *testing.T, answer func(f *http2.Framer, stream uint32, fields []hpack.HeaderField, body string)) Target {
	return Target{HTTP: serve(t, anyPort, func(c net.Conn) {
		if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		f := http2.NewFramer(c, c)
		f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: streams})
		var fields []hpack.HeaderField
		var body string
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			ended := false
			switch frame := frame.(type) {
			case *http2.MetaHeadersFrame:
				fields, body = frame.Fields, ""
				ended = frame.StreamEnded()
			case *http2.DataFrame:
				body += string(frame.Data())
				ended = frame.StreamEnded()
			}
			if ended {
				answer(f, frame.Header().StreamID, fields, body)
			}
		}
	})}
}

// block encodes fields: name, value, name, value.
func block(texts ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for pair := range slices.Chunk(texts, 2) {
		e.WriteField(hpack.HeaderField{Name: pair[0], Value: pair[1]})
	}
	return b.Bytes()
}

// streams is how many streams the server of frames accepts at the same time.
const streams = 16

func header(f *http2.Framer, stream uint32, end bool, texts ...string) {
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, EndHeaders: true, EndStream: end, BlockFragment: block(texts...)})
}

func TestHTTP2OnTheWire(t *testing.T) {
	for name, c := range map[string]struct {
		request behave.Request
		fields  []string // sorted
		body    string
	}{
		"defaults": {behave.Request{Request: "GET http://a.example/b?c=d"},
			[]string{":authority: a.example", ":method: GET", ":path: /b?c=d", ":scheme: http", "accept: */*", "user-agent: windtunnel"}, ""},
		"a path as written": {behave.Request{Request: "PROPFIND http://a.example:8080//x/../%2F/./%7e%zz;p=1?q=%20&&?#f"},
			[]string{":authority: a.example:8080", ":method: PROPFIND", ":path: //x/../%2F/./%7e%zz;p=1?q=%20&&?#f", ":scheme: http", "accept: */*", "user-agent: windtunnel"}, ""},
		"a path that looks like a host": {behave.Request{Request: "get http://a.example//a.example/x"},
			[]string{":authority: a.example", ":method: get", ":path: //a.example/x", ":scheme: http", "accept: */*", "user-agent: windtunnel"}, ""},
		"headers and a body": {behave.Request{Request: "POST http://a.example/", Body: "text", Headers: map[string]behave.Values{
			"X-Many": {"b", "a"}, "Host": {"b.example"}, "Accept": nil, "User-Agent": nil, "TE": {"trailers"}}},
			[]string{":authority: b.example", ":method: POST", ":path: /", ":scheme: http", "content-length: 4", "te: trailers", "x-many: b", "x-many: a"}, "text"},
		"a body without its length": {behave.Request{Request: "POST http://a.example/", Bytes: 3, Chunked: true},
			[]string{":authority: a.example", ":method: POST", ":path: /", ":scheme: http", "accept: */*", "user-agent: windtunnel"}, "012"},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan []string, 1)
			to := frames(t, func(f *http2.Framer, stream uint32, fields []hpack.HeaderField, body string) {
				var texts []string
				for _, field := range fields {
					texts = append(texts, field.Name+": "+field.Value)
				}
				slices.SortStableFunc(texts, func(a, b string) int {
					return strings.Compare(strings.SplitN(a, ": ", 2)[0], strings.SplitN(b, ": ", 2)[0])
				})
				got <- append(texts, body)
				header(f, stream, true, ":status", "204")
			})
			c.request.HTTP = "2"
			if e := one(t, to, c.request); e.Status != 204 || e.Protocol != "HTTP/2.0" {
				t.Errorf("%s, %s", show(e), e.Protocol)
			}
			if fields, want := <-got, append(c.fields, c.body); !slices.Equal(fields, want) {
				t.Errorf("sent\n%q, want\n%q", fields, want)
			}
		})
	}
}

func TestHTTP2Answers(t *testing.T) {
	get := behave.Request{Request: "GET http://a.example/", HTTP: "2"}
	for name, c := range map[string]struct {
		answer func(f *http2.Framer, stream uint32)
		want   behave.Exchange
	}{
		"a body and a trailer": {func(f *http2.Framer, stream uint32) {
			header(f, stream, false, ":status", "103", "link", "x")
			header(f, stream, false, ":status", "200", "x-a", "1", "x-a", "2")
			f.WriteData(stream, false, []byte("te"))
			f.WriteData(stream, false, []byte("xt"))
			header(f, stream, true, "x-t", "1")
		}, behave.Exchange{Status: 200, Protocol: "HTTP/2.0", MaxStreams: streams, Header: http.Header{"X-A": {"1", "2"}}, Body: []byte("text"), Trailer: http.Header{"X-T": {"1"}}}},
		"a stream that is reset": {func(f *http2.Framer, stream uint32) {
			header(f, stream, false, ":status", "200")
			f.WriteData(stream, false, []byte("te"))
			f.WriteRSTStream(stream, http2.ErrCodeInternal)
		}, behave.Exchange{Status: 200, Protocol: "HTTP/2.0", MaxStreams: streams, Header: http.Header{}, Body: []byte("te"), Failure: reset,
			Detail: "stream error: stream ID 1; INTERNAL_ERROR; received from peer"}},
		"refused": {func(f *http2.Framer, stream uint32) { f.WriteRSTStream(stream, http2.ErrCodeRefusedStream) },
			behave.Exchange{Failure: reset, Detail: "stream error: stream ID 1; REFUSED_STREAM; received from peer"}},
		"too few bytes": {func(f *http2.Framer, stream uint32) {
			header(f, stream, false, ":status", "200", "content-length", "4")
			f.WriteData(stream, true, []byte("te"))
		}, behave.Exchange{Status: 200, Protocol: "HTTP/2.0", MaxStreams: streams, Header: http.Header{"Content-Length": {"4"}}, Body: []byte("te"), Failure: closed, Detail: "unexpected EOF"}},
		"no status": {func(f *http2.Framer, stream uint32) { header(f, stream, true, "x", "y") },
			behave.Exchange{Failure: closed, Detail: "stream error: stream ID 1; PROTOCOL_ERROR; malformed response from server: missing status pseudo header"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := one(t, frames(t, func(f *http2.Framer, stream uint32, _ []hpack.HeaderField, _ string) { c.answer(f, stream) }), get)
			if e.Took <= 0 {
				t.Errorf("took %v", e.Took)
			}
			e.Took = 0
			if !reflect.DeepEqual(e, c.want) {
				t.Errorf("%+v, want\n%+v", e, c.want)
			}
		})
	}
}

func TestHTTP2KeepsAlive(t *testing.T) {
	used := make(chan uint32, 3)
	to := frames(t, func(f *http2.Framer, stream uint32, _ []hpack.HeaderField, _ string) {
		used <- stream
		if stream == 3 {
			f.WriteGoAway(stream, http2.ErrCodeNo, nil)
		}
		header(f, stream, true, ":status", "200")
	})
	all := several(t, to, behave.Request{Request: "GET http://a.example/", HTTP: "2", Times: 3, KeepAlive: true})
	if all[0].Status != 200 || all[1].Status != 200 || all[2].Failure != closed {
		t.Errorf("%s; %s; %s", show(all[0]), show(all[1]), show(all[2]))
	}
	if a, b := <-used, <-used; a != 1 || b != 3 || len(used) > 0 {
		t.Errorf("streams %d, %d and %d others", a, b, len(used))
	}
}
