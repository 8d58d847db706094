package kubeapi

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// Two JSON decoders: one that also reports unknown and duplicate fields.
var (
	laxJSON    = kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kjson.SerializerOptions{})
	strictJSON = kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kjson.SerializerOptions{Strict: true})
)

// readObject reads the request's body as an object of its resource, and returns
// it as it is stored. Unknown fields are an error, a Warning header or nothing, as
// fieldValidation says.
func readObject(w http.ResponseWriter, r *request) (runtime.Object, error) {
	obj, err := readShown(w, r)
	if err != nil {
		return nil, err
	}
	return r.res.stored(obj), nil
}

func readShown(w http.ResponseWriter, r *request) (runtime.Object, error) {
	body, err := r.readBody()
	if err != nil {
		return nil, err
	}
	mediaType, err := contentType(r, "application/json")
	if err != nil {
		return nil, err
	}
	switch mediaType {
	case protobufType:
		if r.res.custom != nil {
			return nil, unsupportedMediaType(mediaType, "application/json", "application/yaml")
		}
		return decodeProtobuf(r.res, body)
	case "application/yaml":
		if body, err = yaml.YAMLToJSON(body); err != nil {
			return nil, errors.NewBadRequest(fmt.Sprintf("the body is not YAML: %v", err))
		}
		fallthrough
	case "application/json":
		return decodeJSON(w, r, body)
	}
	return nil, unsupportedMediaType(mediaType, "application/json", "application/yaml", protobufType)
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

// contentType returns the media type of the request's body without its parameters.
func contentType(r *request, unset string) (string, error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return unset, nil
	}
	mediaType, _, err := mime.ParseMediaType(header)
	if err != nil {
		return "", errors.NewBadRequest(fmt.Sprintf("Content-Type %q: %v", header, err))
	}
	return mediaType, nil
}

func unsupportedMediaType(got string, supported ...string) error {
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnsupportedMediaType,
		Reason:  metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("the body of the request was in an unknown format (%s) - accepted media types include: %s", got, strings.Join(supported, ", ")),
	}}
}

// decodeJSON decodes body as an object of r's resource; a body without kind is
// taken for one.
func decodeJSON(w http.ResponseWriter, r *request, body []byte) (runtime.Object, error) {
	if r.res.custom != nil {
		return decodeCustom(w, r, body)
	}
	if obj := decodePlainJSON(r.res, body); obj != nil {
		return obj, nil
	}
	serializer := strictJSON
	validation := r.query.Get("fieldValidation")
	if validation == metav1.FieldValidationIgnore {
		serializer = laxJSON
	}
	gvk := r.res.gvk()
	obj, got, err := serializer.Decode(body, &gvk, r.res.empty())
	if err != nil && !(obj != nil && runtime.IsStrictDecodingError(err)) {
		return nil, errors.NewBadRequest(err.Error())
	}
	if err := checkKind(r.res, got.GroupVersion().String(), got.Kind); err != nil {
		return nil, err
	}
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		if validation == metav1.FieldValidationStrict {
			return nil, errors.NewBadRequest(strict.Error())
		}
		for _, problem := range strict.Errors() {
			w.Header().Add("Warning", fmt.Sprintf("299 - %q", problem.Error()))
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as protobuf leaves it
	return obj, nil
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

func checkKind(res *resource, apiVersion, kind string) error {
	want := res.typeMeta("")
	if apiVersion == want.APIVersion && kind == want.Kind {
		return nil
	}
	return errors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s", kind, apiVersion, want.Kind))
}
