package specfile

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Format identifies a file format, as the first document of a file names it.
type Format struct{ APIVersion, Kind string }

// start says how to fix a file that does not start as the format requires.
func (f Format) start() string {
	return "start it with apiVersion: " + f.APIVersion + " and kind: " + f.Kind
}

// Split is like the function Split. It adds a problem if the file has no document.
func (f Format) Split(data []byte, found *Problems) []*yaml.Node {
	documents := Split(data, found)
	if len(documents) == 0 && len(found.Found) == 0 {
		found.Add(1, "the file is empty", f.start())
	}
	return documents
}

// Decode decodes the first document of data, which is the one at a position, into a pointer. Fields
// that the type does not have are problems, and so are numbers with a fraction that have to be whole.
// It returns false if the document is of another format.
func (f Format) Decode(data []byte, at Position, into any, found *Problems) bool {
	if kind, version := at.Text("kind"), at.Text("apiVersion"); kind != f.Kind || version != f.APIVersion {
		found.Add(at.Line(), fmt.Sprintf("the first document is of kind %q, with apiVersion %q", kind, version), f.start())
		return false
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	skipEmpty(decoder, data)
	if err := withFractions(decoder.Decode(into), at.Root, into); err != nil {
		found.YAML(err, at.Line())
	}
	for _, line := range EmptyItems(at.Root) {
		found.Add(line, "an empty list item", "fill it in, or remove its dash")
	}
	return true
}
