package kubeapi

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// readObject reads the request's body as an object of its resource, and converts it to the kind
// that is stored. Depending on fieldValidation, unknown fields are an error, a Warning header or
// ignored.
func readObject(w http.ResponseWriter, r *request) (runtime.Object, error) {
	obj, err := readAs(w, r, r.Resource)
	if err != nil {
		return nil, err
	}
	return r.Resource.ToStored(obj), nil
}

// readAs reads the body as an object of res.
func readAs(w http.ResponseWriter, r *request, res *resource.Resource) (runtime.Object, error) {
	body, err := r.readBody()
	if err != nil {
		return nil, err
	}
	mediaType, err := contentType(r)
	if err != nil {
		return nil, err
	}
	decode := codec.DecodeJSON
	switch mediaType {
	case codec.ProtobufType:
		if res.Custom != nil {
			return nil, codec.ErrUnsupportedMediaType("application/json", codec.YAMLType)
		}
		obj, err := codec.DecodeProtobuf(res, body)
		if err != nil {
			return nil, codec.ErrBody(res, body, err)
		}
		return obj, nil
	case codec.YAMLType:
		decode = codec.DecodeYAML
	case "application/json":
	default:
		return nil, codec.ErrUnsupportedMediaType("application/json", codec.YAMLType, codec.ProtobufType)
	}
	obj, problems, err := decode(res, body, ignoresFieldProblems(r))
	if err == nil {
		err = warnOrRefuse(w, r, problems)
	}
	if err != nil {
		return nil, codec.ErrBody(res, body, err)
	}
	return obj, nil
}

// readBody returns the whole body, which is valid until releaseBody. It may be called more than once.
func (r *request) readBody() ([]byte, error) {
	if r.body != nil {
		return r.body.Bytes(), nil
	}
	size := min(max(r.ContentLength, 0), codec.MaxBody)
	buf := bodies.Get().(*bytes.Buffer)
	buf.Grow(int(size) + bytes.MinRead) // large enough for ReadFrom to find the end without growing the buffer
	if _, err := buf.ReadFrom(r.Body); err != nil {
		return nil, fmt.Errorf("reading the request's body: %w", err)
	}
	r.body = buf
	return buf.Bytes(), nil
}

// bodies holds empty buffers for bodies. Decoded objects share no bytes with the body that they come
// from.
var bodies = sync.Pool{New: func() any { return &bytes.Buffer{} }}

// maxPooledBody limits the memory that buffers without a request hold.
const maxPooledBody = 64 << 10

// releaseBody gives the body's buffer to later requests.
func (r *request) releaseBody() {
	if r.body == nil || r.body.Cap() > maxPooledBody {
		return
	}
	if overwriteBodies {
		all := r.body.Bytes()
		for i := range all {
			all[i] = 0xff
		}
	}
	r.body.Reset()
	bodies.Put(r.body)
	r.body = nil
}

// overwriteBodies lets tests find objects that share bytes with a body.
var overwriteBodies bool

// discard drops the warnings about a body that is read again.
type discard struct{ http.ResponseWriter }

func (discard) Header() http.Header { return http.Header{} }

// contentType returns the media type of the request's body without parameters. Without a
// Content-Type it is JSON, as in kube-apiserver. It is empty, and so refused, if there is
// no Authorization either: any web page can make a browser send such requests.
func contentType(r *request) (string, error) {
	header := r.Header.Get("Content-Type")
	switch {
	case header != "":
	case r.Header.Get("Authorization") != "": // a web page cannot send it without CORS permission
		return "application/json", nil
	default:
		return "", nil
	}
	mediaType, _, err := mime.ParseMediaType(header)
	if err != nil {
		return "", errors.NewBadRequest(fmt.Sprintf("Content-Type %q: %v", header, err))
	}
	return mediaType, nil
}

// ignoresFieldProblems reports whether the request ignores unknown and duplicate fields.
func ignoresFieldProblems(r *request) bool {
	return r.query.Get("fieldValidation") == metav1.FieldValidationIgnore
}

// warnOrRefuse returns an error, or adds Warning headers, for problems with the fields of a body.
func warnOrRefuse(w http.ResponseWriter, r *request, problems []error) error {
	switch {
	case len(problems) == 0 || ignoresFieldProblems(r):
		return nil
	case r.query.Get("fieldValidation") == metav1.FieldValidationStrict:
		return runtime.NewStrictDecodingError(problems)
	}
	for _, problem := range problems {
		warn(w, problem)
	}
	return nil
}

func warn(w http.ResponseWriter, problem error) {
	if header, err := utilnet.NewWarningHeader(299, "", problem.Error()); err == nil {
		w.Header().Add("Warning", header)
	}
}
