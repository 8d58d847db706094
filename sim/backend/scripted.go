package backend

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
)

// role is the additional state of a pod that follows a script or records; other pods have none.
type role struct {
	script    *compiled  // nil: answers like a pod without a script
	recording *Recording // nil: does not record
}

// Description is the answer of a pod with a script, unless the script has a body.
type Description struct {
	Identity
	Method   string            `json:"method"`
	Path     string            `json:"path"` // with its query, as on the wire
	Host     string            `json:"host"`
	Protocol string            `json:"protocol"`
	Headers  http.Header       `json:"headers"`
	Params   map[string]string `json:"params,omitempty"`  // of FastCGI
	Request  int               `json:"request,omitempty"` // as in RequestHeader
}

// assign makes a new pod follow the script and record; either may be nil.
func (p *pod) assign(script *compiled, recording *Recording) {
	if script == nil && recording == nil {
		return
	}
	p.role = &role{script: script, recording: recording}
	if script != nil {
		p.further = script.Ports
		p.grpc = newScriptedGRPC(p)
	}
}

// speaks reports whether the pod's script is of that protocol.
func (p *pod) speaks(protocol Protocol) bool {
	return p.role != nil && p.role.script != nil && p.role.script.protocol == protocol
}

// perform records a request and answers it.
func (p *pod) perform(w http.ResponseWriter, r *http.Request) {
	if r.Method == "PRI" && r.RequestURI == "*" && r.ProtoMajor == 2 {
		// This is the preface of HTTP/2 (RFC 9113, section 3.4), which a pod that speaks HTTP/1
		// does not know.
		http.Error(w, "this pod does not speak HTTP/2", http.StatusHTTPVersionNotSupported)
		return
	}
	record := p.describe(r)
	reception := p.role.recording.add(record)
	defer reception.update(func(record *Received) { record.Done = true })
	if reception != nil {
		record.Number = reception.record.Number // it never changes
		w.Header().Set(RequestHeader, strconv.Itoa(record.Number))
		if !record.Complete {
			r.Body = recordedBody{r.Body, reception}
		}
	}
	if p.role.script == nil {
		p.answerPlainly(w, r)
		return
	}
	p.follow(w, r, record, reception)
}

// follow answers as the script says, when the whole request has come.
func (p *pod) follow(w http.ResponseWriter, r *http.Request, record Received, reception *reception) {
	answer := p.role.script.answerTo(record.Method, record.Path)
	identity := p.identity("")
	var message bytes.Buffer // of a gRPC call
	sum, to := sha256.New(), io.Discard
	if record.GRPC != "" {
		to = &message
	}
	if _, err := io.Copy(io.MultiWriter(sum, to), r.Body); err != nil {
		panic(http.ErrAbortHandler) // the record has the reason
	}
	identity.Body = hexOf(sum)
	if answer.After > 0 && !pause(r.Context(), answer.After) {
		reception.fail("the client or the pod has gone before the answer")
		panic(http.ErrAbortHandler)
	}
	description := Description{
		Identity: identity, Method: record.Method, Path: record.Path, Host: record.Host, Protocol: record.Protocol,
		Headers: record.Headers, Params: record.Params, Request: record.Number,
	}
	switch {
	case answer.Break != "":
		reception.fail("the script breaks the connection: " + string(answer.Break))
		breakConnection(connOf(r), answer.Break)
		panic(http.ErrAbortHandler)
	case record.GRPC != "" && !answer.own():
		answer.setHeaders(w.Header())
		r = r.WithContext(context.WithValue(r.Context(), descriptionKey{}, description))
		r.Body = io.NopCloser(&message)
		p.grpc().ServeHTTP(w, r)
	case record.WebSocket && !answer.own():
		answer.setHeaders(w.Header())
		p.echoMessages(w, r)
	default:
		answer.write(w, r.Method, description)
	}
}

// descriptionKey is the key of a call's Description in its context.
type descriptionKey struct{}

// write answers with the body of the script, or else the description.
func (a *Answer) write(w http.ResponseWriter, method string, description Description) {
	status := cmp.Or(a.Status, http.StatusOK)
	var body io.Reader
	var length int
	h := w.Header()
	switch {
	case a.Bytes > 0:
		h.Set("Content-Type", "application/octet-stream")
		body, length = payload(a.Bytes), int(a.Bytes)
	case a.Body != nil:
		body, length = bytes.NewReader(a.Body), len(a.Body)
	default:
		text := description.encode()
		h.Set("Content-Type", "application/json")
		body, length = bytes.NewReader(text), len(text)
	}
	if bodyAllowed(status) {
		h.Set("Content-Length", strconv.Itoa(length))
	}
	a.setHeaders(h)
	if _, chunked := h["Transfer-Encoding"]; chunked {
		h.Del("Content-Length")
	}
	description.setHeaders(h)
	w.WriteHeader(status)
	if bodyAllowed(status) && method != http.MethodHead {
		io.Copy(w, body) // it fails only if the client has gone, or the script gives another length
	}
}

func (a *Answer) setHeaders(h http.Header) {
	for name, values := range a.Headers {
		h[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
}

func (d Description) encode() []byte {
	text, err := json.Marshal(d)
	if err != nil {
		panic(err) // texts always marshal
	}
	return text
}
