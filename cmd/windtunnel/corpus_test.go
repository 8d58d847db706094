package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// appearing is a context that ends when a file exists.
type appearing struct {
	context.Context
	file string
}

func (a appearing) Err() error {
	if _, err := os.Stat(a.file); err != nil {
		return nil
	}
	return context.Canceled
}

// Manifests without an index would be read without the flags that they need, so none are left.
func TestCorpusMakeLeavesNothingIfItFails(t *testing.T) {
	out := filepath.Join(t.TempDir(), "corpus")
	o := corpusMakeOptions{out: out, sizes: []int{2, 3}}
	if err := o.make(appearing{t.Context(), filepath.Join(out, "ingresses-2.yaml")}, io.Discard); err == nil {
		t.Error("an interrupt is no error")
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("an interrupt leaves the folder: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(out, "ingresses-3.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := o.make(t.Context(), io.Discard); err == nil {
		t.Error("a file that exists is no error")
	}
	if found, _ := os.ReadDir(out); len(found) != 1 {
		t.Errorf("left %v", found)
	}
}
