package codec

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
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
	t, message, err := OpenEnvelope(body)
	if err != nil {
		return nil, err
	}
	if err := CheckKind(res, t.APIVersion, t.Kind); err != nil {
		return nil, err
	}
	obj, err := res.Unmarshal(message)
	if err != nil {
		return nil, errors.NewBadRequest(fmt.Sprintf("the body is not a protobuf %s: %v", res.Kind, err))
	}
	return obj, nil
}

// OpenEnvelope decodes the envelope around a protobuf object. The object's message shares the bytes
// of body.
func OpenEnvelope(body []byte) (t runtime.TypeMeta, message []byte, err error) {
	unknown, ok := bytes.CutPrefix(body, []byte(object.ProtobufMagic))
	if !ok {
		return t, nil, errors.NewBadRequest("the body is not Kubernetes protobuf: its first four bytes must be 6b 38 73 00")
	}
	if message, err = openUnknown(unknown, &t); err != nil {
		return t, nil, errors.NewBadRequest(fmt.Sprintf("the body's protobuf envelope: %v", err))
	}
	return t, message, nil
}

// openUnknown decodes a runtime.Unknown (typeMeta=1, raw=2, contentEncoding=3, contentType=4),
// whose own Unmarshal copies the message.
func openUnknown(unknown []byte, t *runtime.TypeMeta) (message []byte, err error) {
	for len(unknown) > 0 {
		number, kind, tag := protowire.ConsumeTag(unknown)
		if tag < 0 {
			return nil, protowire.ParseError(tag)
		}
		size := protowire.ConsumeFieldValue(number, kind, unknown[tag:])
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		if number <= 4 && kind != protowire.BytesType {
			return nil, fmt.Errorf("field %d has the wire type %d instead of %d", number, kind, protowire.BytesType)
		}
		switch content, _ := protowire.ConsumeBytes(unknown[tag : tag+size]); number {
		case 1:
			if err := t.Unmarshal(content); err != nil {
				return nil, err
			}
		case 2:
			message = content
		}
		unknown = unknown[tag+size:]
	}
	return message, nil
}

// MaxBody is the size of the largest request body that is accepted, as in kube-apiserver.
const MaxBody = 3 << 20
