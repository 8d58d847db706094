package codec

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// Negotiate returns the codec for the preferred content type in the Accept header that the server can
// write, and the representation that the header asks for. Without an Accept header, both are JSON. If
// nothing fits, the error is a 406. With jsonOnly, protobuf is used only for the metadata of objects.
func Negotiate(r *http.Request, jsonOnly bool) (Codec, Representation, error) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(accept) == "" {
		return JSON{}, JSON{}, nil
	}
	known, refusal := false, Codec(JSON{})
	for _, clause := range clausesOf(accept) {
		c := codecFor(clause.mediaType)
		if c == nil {
			continue
		}
		known = true
		if _, isProtobuf := c.(Protobuf); jsonOnly && isProtobuf && clause.params["as"] == "" {
			refusal = c // a Status can be protobuf
			continue
		}
		if f := representationFor(c, clause.params, r); f != nil {
			return c, f, nil
		}
	}
	return refusal, nil, notAcceptable(known, listing(r))
}

// listing reports whether a request is a list or a watch.
func listing(r *http.Request) bool {
	p, ok := resource.ParsePath(r.URL.Path)
	return ok && p.Name == "" && r.Method == http.MethodGet
}

func codecFor(mediaType string) Codec {
	switch mediaType {
	case "application/json", "application/*", "*/*":
		return JSON{}
	case ProtobufType:
		return Protobuf{}
	case YAMLType:
		return YAML{}
	}
	return nil
}

// representationFor returns the representation that the parameters of a clause ask for, or nil if the
// codec does not have it.
func representationFor(c Codec, params map[string]string, r *http.Request) Representation {
	as := params["as"]
	if as != "" && (params["g"] != "meta.k8s.io" || params["v"] != "v1") {
		return nil
	}
	switch as {
	case "":
		return c
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		return Partial{c}
	case "Table":
		if _, ok := c.(Protobuf); !ok {
			return Table{codec: c, include: r.URL.Query().Get("includeObject")}
		}
	}
	return nil
}

// ErrStreamType returns the 406 error for a watch in a content type that has no frames.
func ErrStreamType() error {
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotAcceptable,
		Reason:  metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: application/json;stream=watch, " + Protobuf{}.StreamType(),
	}}
}

// notAcceptable returns the 406 error. In kube-apiserver a router answers unknown media types, and
// a handler answers unknown representations of known ones.
func notAcceptable(known, listing bool) error {
	types := []string{"application/json", YAMLType, ProtobufType}
	status := metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotAcceptable,
		Reason:  metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: " + strings.Join(types, ", "),
	}
	if !known {
		if listing {
			types = append(types, JSON{}.StreamType()+";stream=watch", Protobuf{}.StreamType())
		}
		status.Message = "406: Not Acceptable\n\nAvailable representations: " + strings.Join(types, ", ")
		status.Details = &metav1.StatusDetails{}
	}
	return &errors.StatusError{ErrStatus: status}
}
