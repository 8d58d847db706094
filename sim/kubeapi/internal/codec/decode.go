package codec

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// Two decoders for each of JSON and YAML. The strict one also reports unknown and duplicate fields.
var (
	laxJSON    = decoder(false, false)
	strictJSON = decoder(false, true)
	laxYAML    = decoder(true, false)
	strictYAML = decoder(true, true)
)

func decoder(yaml, strict bool) *kjson.Serializer {
	return kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kjson.SerializerOptions{Yaml: yaml, Strict: strict})
}

// DecodeJSON decodes body as an object of res and, unless lax is set, reports unknown and duplicate
// fields. A body without a kind counts as an object of res.
func DecodeJSON(res *resource.Resource, body []byte, lax bool) (runtime.Object, []error, error) {
	if res.Custom != nil {
		return DecodeCustom(res, body)
	}
	if obj := decodePlainJSON(res, body); obj != nil {
		return obj, nil, nil
	}
	if lax {
		return decodeText(res, body, laxJSON)
	}
	return decodeText(res, body, strictJSON)
}

// DecodeYAML is DecodeJSON for YAML.
func DecodeYAML(res *resource.Resource, body []byte, lax bool) (runtime.Object, []error, error) {
	if res.Custom != nil {
		return decodeCustomYAML(res, body)
	}
	if lax {
		return decodeText(res, body, laxYAML)
	}
	return decodeText(res, body, strictYAML)
}

func decodeText(res *resource.Resource, body []byte, serializer *kjson.Serializer) (runtime.Object, []error, error) {
	gvk := res.GVK()
	obj, got, err := serializer.Decode(body, &gvk, res.Empty())
	strict, isStrict := runtime.AsStrictDecodingError(err)
	if err != nil && (obj == nil || !isStrict) {
		return nil, nil, err
	}
	if err := CheckKind(res, got.GroupVersion().String(), got.Kind); err != nil {
		return nil, nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // empty, as after decoding protobuf
	if isStrict {
		return obj, strict.Errors(), nil
	}
	return obj, nil, nil
}

// DecodeProtobuf decodes body, a Kubernetes protobuf envelope, as an object of res.
func DecodeProtobuf(res *resource.Resource, body []byte) (runtime.Object, error) {
	envelope, err := OpenEnvelope(body)
	if err != nil {
		return nil, err
	}
	if err := CheckKind(res, envelope.APIVersion, envelope.Kind); err != nil {
		return nil, err
	}
	obj := res.Empty()
	if err := obj.(object.Message).Unmarshal(envelope.Raw); err != nil {
		return nil, errors.NewBadRequest(fmt.Sprintf("the body is not a protobuf %s: %v", res.Kind, err))
	}
	return obj, nil
}

// OpenEnvelope decodes the envelope around a protobuf object.
func OpenEnvelope(body []byte) (*runtime.Unknown, error) {
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

// MaxBody is the size of the largest request body that is accepted, as in kube-apiserver.
const MaxBody = 3 << 20
