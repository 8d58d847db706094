package kubeapi

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// Stored bytes are read and changed in place where decoding them would cost more
// than all the rest of a write. They are ours, so they are well formed, their
// fields are in the order of their numbers, and every kind begins with its
// metadata as field 1; a status, where there is one, is field 3.

const (
	metadataField   = 1
	statusField     = 3
	rvField         = 6  // of the metadata
	finalizersField = 14 // of the metadata
)

// cut returns the content of the first field with a number, and what is before
// and after that field.
func cut(raw []byte, field protowire.Number) (before, content, after []byte) {
	for at := 0; at < len(raw); {
		number, kind, tag := protowire.ConsumeTag(raw[at:])
		if tag < 0 {
			break
		}
		size := protowire.ConsumeFieldValue(number, kind, raw[at+tag:])
		if size < 0 {
			break
		}
		if number == field && kind == protowire.BytesType {
			content, _ := protowire.ConsumeBytes(raw[at+tag:])
			return raw[:at], content, raw[at+tag+size:]
		}
		at += tag + size
	}
	return raw, nil, nil
}

// putRV writes a resourceVersion over the one in raw. It is false, and nothing is
// written, when they differ in length.
func putRV(raw []byte, rv string) bool {
	_, metadata, _ := cut(raw, metadataField)
	_, old, _ := cut(metadata, rvField)
	return len(old) == len(rv) && copy(old, rv) > 0
}

// without returns raw less all fields with a number.
func without(raw []byte, field protowire.Number) []byte {
	var rest []byte
	for {
		before, _, after := cut(raw, field)
		rest = append(rest, before...)
		if len(after) == 0 {
			return rest
		}
		raw = after
	}
}
