package kubeapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	stderrors "errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// pretty reports whether to indent JSON. As in kube-apiserver, the default for curl, Wget and
// browsers is yes.
func pretty(r *http.Request) bool {
	switch r.URL.Query().Get("pretty") {
	case "":
		agent := r.UserAgent()
		return slices.ContainsFunc([]string{"curl", "Wget", "Mozilla/5.0"}, func(p string) bool { return strings.HasPrefix(agent, p) })
	case "0", "false":
		return false
	}
	return true
}

// respond writes one object in the representation that the client asked for.
func respond(w http.ResponseWriter, r *request, code int, o *store.Object) error {
	body, err := r.encode(o)
	if err != nil {
		return err
	}
	r.code = code
	write(w, r.Request, r.codec.MediaType(), code, body)
	return nil
}

// encode encodes an answer. For the JSON of an object that the request has just stored, it uses the
// object that is still decoded, and keeps the bytes for the watchers.
func (r *request) encode(o *store.Object) ([]byte, error) {
	if _, plain := r.representation.(codec.JSON); plain && r.Written != nil && r.Objects.Fresh(o) && o.JSON.Load() == nil {
		return codec.EncodeJSON(o, r.Written, true)
	}
	return r.representation.Object(o, false)
}

// respondList writes a list without holding all its bytes in memory.
func respondList(w http.ResponseWriter, r *request, objects []*store.Object, m metav1.ListMeta) error {
	if _, isJSON := r.codec.(codec.JSON); isJSON && pretty(r.Request) {
		var body bytes.Buffer
		if err := r.representation.List(&body, r.Resource, objects, m); err != nil {
			return err
		}
		write(w, r.Request, r.codec.MediaType(), http.StatusOK, body.Bytes())
		return nil
	}
	writeHead(w, r.codec.MediaType(), http.StatusOK)
	buf := bufio.NewWriterSize(w, 64<<10)
	if err := r.representation.List(buf, r.Resource, objects, m); err != nil {
		panic(http.ErrAbortHandler) // too late for a Status: abort the connection, because the client must not treat this as a complete list
	}
	buf.Flush() // an error means that the client has gone
	return nil
}

// write sends a whole body, with indented JSON if the client wants that.
func write(w http.ResponseWriter, req *http.Request, mediaType string, code int, body []byte) {
	if strings.HasPrefix(mediaType, "application/json") && pretty(req) {
		var indented bytes.Buffer
		if json.Indent(&indented, body, "", "  ") == nil {
			body = indented.Bytes()
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	writeHead(w, mediaType, code)
	w.Write(body) // an error means that the client has gone
}

const noCache = "no-cache, private"

func writeHead(w http.ResponseWriter, mediaType string, code int) {
	w.Header().Set("Content-Type", mediaType)
	if w.Header().Get("Cache-Control") == "" {
		w.Header().Set("Cache-Control", noCache)
	}
	w.WriteHeader(code)
}

// fail answers with the Status of err; an error without a Status becomes a 500. It returns the code.
func fail(w http.ResponseWriter, r *request, err error) (code int) {
	if stderrors.Is(err, errUnknownPath) {
		w.Header().Set("Cache-Control", noCache)
		http.Error(w, err.Error(), http.StatusNotFound)
		return http.StatusNotFound
	}
	status := statusFor(err)
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	body, err := r.codec.Value(status)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return http.StatusInternalServerError
	}
	write(w, r.Request, r.codec.MediaType(), int(status.Code), body)
	return int(status.Code)
}

func statusFor(err error) *metav1.Status {
	var known errors.APIStatus
	var tooLarge *http.MaxBytesError
	switch {
	case stderrors.As(err, &tooLarge):
		known = errors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", tooLarge.Limit))
	case stderrors.Is(err, os.ErrDeadlineExceeded): // as kube-apiserver answers a request that exceeds its timeout
		known = errors.NewTimeoutError("the request's body took too long to arrive", 0)
	case !stderrors.As(err, &known): // as kube-apiserver answers an unexpected error
		known = &errors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}}
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return &status
}

// respondDeleted answers a deletion with a Status.
func respondDeleted(w http.ResponseWriter, r *request, o *store.Object) error {
	body, err := r.codec.Value(&metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess,
		Details:  &metav1.StatusDetails{Name: o.Name, Group: r.Resource.Group, Kind: r.Resource.Name, UID: o.UID},
	})
	if err != nil {
		return err
	}
	write(w, r.Request, r.codec.MediaType(), http.StatusOK, body)
	return nil
}
