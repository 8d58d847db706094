// Package yamldoc splits a file into its YAML documents and converts each into JSON. Its one rule: an
// error has the line of the file, not that of the document.
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// Document is a YAML document of a file.
type Document struct {
	Line int    // of the file, where Text begins, from 1
	Text []byte // from the first line that is not empty, a comment or a directive
}

// Split yields the documents of a file, which are separated by --- lines. It leaves out empty documents.
// The texts are parts of data.
func Split(data []byte) iter.Seq[Document] {
	return func(yield func(Document) bool) {
		var current Document
		start, end, number := 0, 0, 0
		for line := range bytes.Lines(data) {
			number++
			next := end + len(line)
			if rest, found := separator(line); found {
				if current.Line > 0 {
					current.Text = data[start:end]
					if !yield(current) {
						return
					}
				}
				current, line = Document{}, rest // "--- {kind: …}" is a document, too
			}
			if current.Line == 0 && hasContent(line) {
				current.Line, start = number, next-len(line)
			}
			end = next
		}
		if current.Line > 0 {
			current.Text = data[start:end]
			yield(current)
		}
	}
}

// separator reports whether a line separates documents, and returns what follows the ---.
func separator(line []byte) (rest []byte, found bool) {
	rest, found = bytes.CutPrefix(line, []byte("---"))
	return rest, found && (len(bytes.TrimSpace(rest)) == 0 || rest[0] == ' ' || rest[0] == '\t')
}

func hasContent(line []byte) bool {
	text := bytes.TrimSpace(line)
	return len(text) > 0 && text[0] != '#' && text[0] != '%'
}

// Errors about documents that are YAML, but not Kubernetes objects.
var (
	ErrNoMapping = errors.New("not a Kubernetes object, which is a mapping with apiVersion and kind")
	ErrNoKind    = errors.New("no kind: a manifest needs apiVersion and kind")
	ErrNoVersion = errors.New("no apiVersion: a manifest needs apiVersion and kind")
	ErrNoList    = errors.New("items is not a list")
)

// Empty reports whether JSON, as it comes from Document.JSON, is that of a document without a value.
func Empty(data []byte) bool { return bytes.Equal(data, []byte("null")) }

// IsMapping reports whether JSON, as it comes from Document.JSON, is a mapping.
func IsMapping(data []byte) bool { return bytes.HasPrefix(data, []byte("{")) }

// yamlLine matches the line number in an error of the YAML reader.
var yamlLine = regexp.MustCompile(`\bline (\d+)(: )?`)

// cannotStart is what the YAML reader says about a tab in the indentation.
const cannotStart = "found character that cannot start any token"

// JSON converts the document into JSON. Its error is "FILE:LINE: not YAML: why". Duplicate keys are an
// error.
func (d Document) JSON(file string) ([]byte, error) {
	data, err := yaml.YAMLToJSONStrict(d.Text)
	if err == nil {
		return data, nil
	}
	text := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:"} {
		text = strings.TrimPrefix(text, prefix)
	}
	first := d.Line
	var problems []string
	for problem := range strings.Lines(strings.TrimSpace(text)) {
		line := d.Line
		if found := yamlLine.FindStringSubmatch(problem); found != nil {
			n, _ := strconv.Atoi(found[1]) // cannot fail: the expression matches digits
			line = d.Line + n - 1
			problem = strings.Replace(problem, found[0], "", 1)
		}
		problem = strings.Join(strings.Fields(problem), " ")
		if problem == cannotStart {
			problem = "a tab in the indentation, or a text that begins with @, ` or %: indent with spaces, and quote such a text"
		}
		if len(problems) == 0 {
			first = line
		} else {
			problem = fmt.Sprintf("line %d: %s", line, problem)
		}
		problems = append(problems, problem)
	}
	return nil, fmt.Errorf("%s:%d: not YAML: %s", file, first, strings.Join(problems, "; "))
}
