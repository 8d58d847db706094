package ask

import (
	"encoding/binary"
	"net/http"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// grpcPrefix is the length of what precedes a message: a flag for compression, and the length of
// the message (gRPC over HTTP/2, "Length-Prefixed-Message").
const grpcPrefix = 5

// grpcMessage encodes content as the message that a pod's echo method accepts: a
// google.protobuf.BytesValue.
func grpcMessage(content []byte) ([]byte, error) {
	message, err := proto.Marshal(wrapperspb.Bytes(content))
	if err != nil {
		return nil, err
	}
	prefix := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	return append(prefix, message...), nil
}

// grpcContent returns the content of the message in an answer. Anything else than one message that
// is not compressed is returned as it is, such as an error page of nginx.
func grpcContent(header http.Header, body []byte) []byte {
	if !strings.HasPrefix(header.Get("Content-Type"), "application/grpc") || len(body) < grpcPrefix ||
		body[0] != 0 || int(binary.BigEndian.Uint32(body[1:])) != len(body)-grpcPrefix {
		return body
	}
	var message wrapperspb.BytesValue // StringValue has the same encoding
	if proto.Unmarshal(body[grpcPrefix:], &message) != nil {
		return body
	}
	return message.GetValue()
}
