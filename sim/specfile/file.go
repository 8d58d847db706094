package specfile

import (
	"bytes"
	"errors"
	"io"
	"reflect"

	"go.yaml.in/yaml/v3"
)

// DecodeFile decodes a file without apiVersion and kind into a pointer to a struct. Fields that the struct does
// not have are errors. An empty file changes nothing. kinds is that of TypesOf.
func DecodeFile(name string, data []byte, into any, kinds map[string]string) error {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	err := decoder.Decode(into)
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	found := Problems{File: name, Types: TypesOf(reflect.TypeOf(into), kinds)}
	found.YAML(err, 1)
	return found.Err()
}
