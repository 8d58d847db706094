package object

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// AppendTag appends the start of a length-delimited field: a number below 16, and the size.
func AppendTag(b []byte, number byte, size int) []byte {
	return binary.AppendUvarint(append(b, number<<3|2), uint64(size))
}

// FieldSize is the size of a length-delimited field with its tag.
func FieldSize(size int) int {
	n := 2 + size
	for v := size; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// Stored bytes are read and changed in place where decoding them would cost more than the rest
// of a write. This package encoded them, so they are well formed and their fields are in the
// order of their numbers. In every kind field 1 is the metadata, and field 3 the status if there
// is one.

const (
	MetadataField   = 1
	StatusField     = 3
	rvField         = 6  // of the metadata
	FinalizersField = 14 // of the metadata
)

// Cut returns the content of the first field with this number, and the bytes before and after that
// field.
func Cut(raw []byte, field protowire.Number) (before, content, after []byte) {
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

// OverwriteVersion writes a resourceVersion over the one in raw. If their lengths differ it writes
// nothing and returns false.
func OverwriteVersion(raw []byte, rv string) bool {
	_, metadata, _ := Cut(raw, MetadataField)
	_, old, _ := Cut(metadata, rvField)
	return len(old) == len(rv) && copy(old, rv) > 0
}

// Count returns the number of fields with this number.
func Count(raw []byte, field protowire.Number) (n int) {
	for {
		_, content, after := Cut(raw, field)
		if content == nil {
			return n
		}
		n, raw = n+1, after
	}
}
