package kubeapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	stderrors "errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// respond writes one object in the form that was asked for.
func respond(w http.ResponseWriter, r *request, code int, o *object) error {
	body, err := r.encode(o)
	if err != nil {
		return err
	}
	write(w, r.Request, r.codec.mediaType(), code, body)
	return nil
}

// encode encodes what r answers with; JSON of what it has just stored, which
// watchers will want as well, from the object that it still has decoded.
func (r *request) encode(o *object) ([]byte, error) {
	if _, plain := r.form.(jsonCodec); plain && r.written != nil && r.objects.fresh(o) && o.json.Load() == nil {
		return encodeJSON(o, r.written, true)
	}
	return r.form.object(o, false)
}

// respondList writes many, without holding all their bytes.
func respondList(w http.ResponseWriter, r *request, objects []*object, m metav1.ListMeta) error {
	if _, isJSON := r.codec.(jsonCodec); isJSON && pretty(r.Request) {
		var body bytes.Buffer
		if err := r.form.list(&body, r.res, objects, m); err != nil {
			return err
		}
		write(w, r.Request, r.codec.mediaType(), http.StatusOK, body.Bytes())
		return nil
	}
	writeHead(w, r.codec.mediaType(), http.StatusOK)
	buf := bufio.NewWriterSize(w, 64<<10)
	if err := r.form.list(buf, r.res, objects, m); err != nil {
		panic(http.ErrAbortHandler) // too late for a status: cut the connection, as the client must not take this for a list
	}
	buf.Flush() // an error means that the client has gone
	return nil
}

// write sends a whole body, indented if it is JSON and a person reads it.
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

// fail answers with the Status that err is; an error that is none becomes a 500.
func fail(w http.ResponseWriter, r *request, err error) {
	if stderrors.Is(err, errUnknownPath) {
		w.Header().Set("Cache-Control", noCache)
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	status := statusFor(err)
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	body, err := r.codec.value(status)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, r.Request, r.codec.mediaType(), int(status.Code), body)
}

func statusFor(err error) *metav1.Status {
	var known errors.APIStatus
	var tooLarge *http.MaxBytesError
	switch {
	case stderrors.As(err, &tooLarge):
		known = errors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", tooLarge.Limit))
	case stderrors.Is(err, os.ErrDeadlineExceeded): // as kube-apiserver answers what takes longer than its request timeout
		known = errors.NewTimeoutError("the request's body took too long to arrive", 0)
	case !stderrors.As(err, &known): // as kube-apiserver answers what it did not expect
		known = &errors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}}
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return &status
}

// succeed answers with the Status of a deletion.
func succeed(w http.ResponseWriter, r *request, o *object) error {
	body, err := r.codec.value(&metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess,
		Details:  &metav1.StatusDetails{Name: o.name, Group: r.res.group, Kind: r.res.name, UID: o.uid},
	})
	if err != nil {
		return err
	}
	write(w, r.Request, r.codec.mediaType(), http.StatusOK, body)
	return nil
}

func errMethod() error {
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusMethodNotAllowed,
		Reason:  metav1.StatusReasonMethodNotAllowed,
		Message: "the server does not allow this method on the requested resource",
		Details: &metav1.StatusDetails{},
	}}
}
