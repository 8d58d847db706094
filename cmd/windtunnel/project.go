package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"go.yaml.in/yaml/v3"
)

// projectFile declares what a project expects: differences between sides, and steps in a history.
const projectFile = "windtunnel.yaml"

// readProject reads the named file or, if there is no name, projectFile of the current folder. The text
// is empty if the latter does not exist. A second YAML document is an error.
func readProject(named string) (file string, text []byte, err error) {
	file = cmp.Or(named, projectFile)
	text, err = os.ReadFile(file)
	if named == "" && errors.Is(err, fs.ErrNotExist) {
		return file, nil, nil
	}
	return file, text, errors.Join(err, checkSingle(file, text))
}

// checkSingle returns an error if a text has a second document, which would be ignored.
func checkSingle(file string, text []byte) error {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var documents [2]yaml.Node
	for i := range documents {
		switch err := decoder.Decode(&documents[i]); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return fmt.Errorf("%s:%d: a second YAML document: move its fields to the first", file, documents[1].Line)
}
