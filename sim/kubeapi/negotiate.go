package kubeapi

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// negotiate finds the first content type of the Accept header that the server
// can write, and the form it asks for. Nothing asked for is JSON; nothing that
// fits is 406. With jsonOnly objects are JSON, though their metadata may be protobuf.
func negotiate(r *http.Request, jsonOnly bool) (codec, form, error) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(accept) == "" {
		return jsonCodec{}, jsonCodec{}, nil
	}
	known, refusal := false, codec(jsonCodec{})
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
		if _, isProtobuf := c.(protobufCodec); jsonOnly && isProtobuf && params["as"] == "" {
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
	p, ok := parsePath(r.URL.Path)
	return ok && p.name == "" && r.Method == http.MethodGet
}

func codecFor(mediaType string) codec {
	switch mediaType {
	case "application/json", "application/*", "*/*":
		return jsonCodec{}
	case protobufType:
		return protobufCodec{}
	case yamlType:
		return yamlCodec{}
	}
	return nil
}

// formFor returns the form that a clause's parameters ask for, nil if the codec cannot.
func formFor(c codec, params map[string]string, r *http.Request) form {
	as := params["as"]
	if as != "" && (params["g"] != "meta.k8s.io" || params["v"] != "v1") {
		return nil
	}
	switch as {
	case "":
		return c
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		return partialForm{c}
	case "Table":
		if _, ok := c.(protobufCodec); !ok {
			return tableForm{codec: c, include: r.URL.Query().Get("includeObject")}
		}
	}
	return nil
}

// errStreamType is the 406 of a watch in a type that has no frames.
func errStreamType() error {
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotAcceptable,
		Reason:  metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: application/json;stream=watch, " + protobufCodec{}.streamType(),
	}}
}

// notAcceptable is the 406. In kube-apiserver a router comes first, which knows no
// more than the media types; its handlers know what there is to ask for with as.
func notAcceptable(known, listing bool) error {
	types := []string{"application/json", yamlType, protobufType}
	status := metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotAcceptable,
		Reason:  metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: " + strings.Join(types, ", "),
	}
	if !known {
		if listing {
			types = append(types, jsonCodec{}.streamType()+";stream=watch", protobufCodec{}.streamType())
		}
		status.Message = "406: Not Acceptable\n\nAvailable representations: " + strings.Join(types, ", ")
		status.Details = &metav1.StatusDetails{}
	}
	return &errors.StatusError{ErrStatus: status}
}

// pretty says whether a person reads: kube-apiserver indents JSON for these clients, too.
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
