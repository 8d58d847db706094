package main

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

const protobufType = runtime.ContentTypeProtobuf

var protobufs = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

func init() { utilruntime.Must(metav1.AddMetaToScheme(scheme.Scheme)) } // PartialObjectMetadata and its list

// toProtobuf converts an object from JSON to protobuf.
func toProtobuf(body []byte) ([]byte, error) {
	obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("encoding the body as protobuf: %w", err)
	}
	return runtime.Encode(protobufs, obj)
}

func fromProtobuf(body []byte) ([]byte, error) {
	obj, kind, err := protobufs.Decode(body, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("decoding protobuf: %w", err)
	}
	obj.GetObjectKind().SetGroupVersionKind(*kind)
	return json.Marshal(obj)
}
