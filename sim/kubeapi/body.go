package kubeapi

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes/scheme"
)

// Two decoders for each of JSON and YAML: one that also reports unknown and duplicate fields.
var (
	laxJSON    = decoder(false, false)
	strictJSON = decoder(false, true)
	laxYAML    = decoder(true, false)
	strictYAML = decoder(true, true)
)

func decoder(yaml, strict bool) *kjson.Serializer {
	return kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kjson.SerializerOptions{Yaml: yaml, Strict: strict})
}

// readObject reads the request's body as an object of its resource, and returns
// it as it is stored. Unknown fields are an error, a Warning header or nothing, as
// fieldValidation says.
func readObject(w http.ResponseWriter, r *request) (runtime.Object, error) {
	obj, err := readShown(w, r, r.res)
	if err != nil {
		return nil, err
	}
	return r.res.stored(obj), nil
}

// readShown reads the body as an object of res.
func readShown(w http.ResponseWriter, r *request, res *resource) (runtime.Object, error) {
	body, err := r.readBody()
	if err != nil {
		return nil, err
	}
	mediaType, err := contentType(r)
	if err != nil {
		return nil, err
	}
	decode := decodeJSON
	switch mediaType {
	case protobufType:
		if res.custom != nil {
			return nil, unsupportedMediaType("application/json", yamlType)
		}
		obj, err := decodeProtobuf(res, body)
		if err != nil {
			return nil, cannotHandle(res, body, err)
		}
		return obj, nil
	case yamlType:
		decode = decodeYAML
	case "application/json":
	default:
		return nil, unsupportedMediaType("application/json", yamlType, protobufType)
	}
	obj, problems, err := decode(res, body, laxly(r))
	if err == nil {
		err = warnOrRefuse(w, r, problems)
	}
	if err != nil {
		return nil, cannotHandle(res, body, err)
	}
	return obj, nil
}

// readBody returns the whole body, as often as it is asked for.
func (r *request) readBody() ([]byte, error) {
	if r.body != nil {
		return r.body, nil
	}
	size := min(max(r.ContentLength, 0), maxBody)
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead)) // in which ReadFrom finds the end without growing it
	if _, err := buf.ReadFrom(r.Body); err != nil {
		return nil, fmt.Errorf("reading the request's body: %w", err)
	}
	r.body = buf.Bytes()
	return r.body, nil
}

// discard is where the warnings about a body go that is read again.
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

// laxly says whether the request does not care about unknown and duplicate fields.
func laxly(r *request) bool {
	return r.query.Get("fieldValidation") == metav1.FieldValidationIgnore
}

// warnOrRefuse makes an error or Warning headers of what is wrong with a body's fields.
func warnOrRefuse(w http.ResponseWriter, r *request, problems []error) error {
	switch {
	case len(problems) == 0 || laxly(r):
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

// decodeJSON decodes body as an object of res, and reports its unknown and
// duplicate fields unless it is lax. A body without kind is taken for one of res.
func decodeJSON(res *resource, body []byte, lax bool) (runtime.Object, []error, error) {
	if res.custom != nil {
		return decodeCustom(res, body)
	}
	if obj := decodePlainJSON(res, body); obj != nil {
		return obj, nil, nil
	}
	if lax {
		return decodeText(res, body, laxJSON)
	}
	return decodeText(res, body, strictJSON)
}

func decodeYAML(res *resource, body []byte, lax bool) (runtime.Object, []error, error) {
	if res.custom != nil {
		return decodeCustomYAML(res, body)
	}
	if lax {
		return decodeText(res, body, laxYAML)
	}
	return decodeText(res, body, strictYAML)
}

func decodeText(res *resource, body []byte, serializer *kjson.Serializer) (runtime.Object, []error, error) {
	gvk := res.gvk()
	obj, got, err := serializer.Decode(body, &gvk, res.empty())
	strict, isStrict := runtime.AsStrictDecodingError(err)
	if err != nil && (obj == nil || !isStrict) {
		return nil, nil, err
	}
	if err := checkKind(res, got.GroupVersion().String(), got.Kind); err != nil {
		return nil, nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as protobuf leaves it
	if isStrict {
		return obj, strict.Errors(), nil
	}
	return obj, nil, nil
}

func decodeProtobuf(res *resource, body []byte) (runtime.Object, error) {
	envelope, err := openEnvelope(body)
	if err != nil {
		return nil, err
	}
	if err := checkKind(res, envelope.APIVersion, envelope.Kind); err != nil {
		return nil, err
	}
	obj := res.empty()
	if err := obj.(message).Unmarshal(envelope.Raw); err != nil {
		return nil, errors.NewBadRequest(fmt.Sprintf("the body is not a protobuf %s: %v", res.kind, err))
	}
	return obj, nil
}

func openEnvelope(body []byte) (*runtime.Unknown, error) {
	message, ok := bytes.CutPrefix(body, []byte(protobufMagic))
	if !ok {
		return nil, errors.NewBadRequest("the body is not Kubernetes protobuf: its first four bytes must be 6b 38 73 00")
	}
	envelope := &runtime.Unknown{}
	if err := envelope.Unmarshal(message); err != nil {
		return nil, errors.NewBadRequest(fmt.Sprintf("the body's protobuf envelope: %v", err))
	}
	return envelope, nil
}
