package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"windtunnel.dev/sim/rundir"
)

// makeOut makes the folder for the results: the one that the user named, or a default one. It
// returns an error if the folder is not writable, so that commands fail before they measure
// anything. removeEmpty removes a folder that makeOut has made, if nothing was written to it.
func makeOut(out *string, name string) (removeEmpty func(), err error) {
	if *out != "" {
		_, err := os.Stat(*out)
		isNew := errors.Is(err, fs.ErrNotExist)
		if err := makeWritable(*out); err != nil {
			return nil, err
		}
		return func() {
			if isNew {
				_ = os.Remove(*out)
			}
		}, nil
	}
	if *out, err = rundir.Default(name, time.Now()); err != nil {
		return nil, notWritable("runs", err)
	}
	return func() { _ = os.Remove(*out) }, nil
}

// makeWritable makes a folder if it does not exist, and checks that files can be written to it.
func makeWritable(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return notWritable(folder, err)
	}
	file, err := os.CreateTemp(folder, ".windtunnel-*")
	if err != nil {
		return notWritable(folder, err)
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// notWritable returns the error that results cannot be written to a folder.
func notWritable(folder string, err error) error {
	if reason := new(fs.PathError); errors.As(err, &reason) {
		err = reason.Err
	}
	return fmt.Errorf("results cannot be written to the folder %s: %w: choose another folder with --out", folder, err)
}
