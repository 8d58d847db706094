package codec

import (
	"mime"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// Negotiate finds the first content type of the Accept header that the server
// can write, and the form it asks for. Nothing asked for is JSON; nothing that
// fits is 406. With jsonOnly objects are JSON, though their metadata may be protobuf.
func Negotiate(r *http.Request, jsonOnly bool) (Codec, Form, error) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(accept) == "" {
		return JSON{}, JSON{}, nil
	}
	known, refusal := false, Codec(JSON{})
	for clause := range strings.SplitSeq(accept, ",") {
		mediaType, params, err := mime.ParseMediaType(clause)
		if err != nil {
			continue // a malformed clause accepts nothing, the next may
		}
		c := codecFor(mediaType)
		if c == nil {
			continue
		}
		known = true
		if _, isProtobuf := c.(Protobuf); jsonOnly && isProtobuf && params["as"] == "" {
			refusal = c // a Status can be protobuf
			continue
		}
		if f := formFor(c, params, r); f != nil {
			return c, f, nil
		}
	}
	return refusal, nil, notAcceptable(known, listing(r))
}

// listing says whether a request could also be a watch.
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

// formFor returns the form that a clause's parameters ask for, nil if the codec cannot.
func formFor(c Codec, params map[string]string, r *http.Request) Form {
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

// ErrStreamType is the 406 of a watch in a type that has no frames.
func ErrStreamType() error {
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotAcceptable,
		Reason:  metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: application/json;stream=watch, " + Protobuf{}.StreamType(),
	}}
}

// notAcceptable is the 406. In kube-apiserver a router comes first, which knows no
// more than the media types; its handlers know what there is to ask for with as.
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
