package main

import (
	"errors"
	"io/fs"
	"os"
)

// projectFile declares what a project expects: differences between sides, and steps in a history.
const projectFile = "windtunnel.yaml"

// readProject reads the named file or, if there is no name, projectFile of the present folder. The text
// is empty if the latter does not exist.
func readProject(named string) (file string, text []byte, err error) {
	if named != "" {
		text, err = os.ReadFile(named)
		return named, text, err
	}
	text, err = os.ReadFile(projectFile)
	if errors.Is(err, fs.ErrNotExist) {
		return projectFile, nil, nil
	}
	return projectFile, text, err
}
