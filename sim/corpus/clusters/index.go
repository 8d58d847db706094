package clusters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// IndexFile is the name of the index in the folder of a corpus.
const IndexFile = "index.json"

// Schema is the version of the format of an Index.
const Schema = "windtunnel.dev/corpus/v1"

// The sources of clusters.
const (
	Generated = "generated"
	Imported  = "imported"
)

// Index lists the clusters of a corpus, a folder with one file of manifests per cluster.
type Index struct {
	Schema   string  `json:"schema"`
	Clusters []Entry `json:"clusters"`
}

// Entry is a cluster of a corpus.
type Entry struct {
	Name      string    `json:"name"` // its file is NAME.yaml
	Ingresses int       `json:"ingresses"`
	Objects   int       `json:"objects"`
	Source    string    `json:"source"`             // generated or imported
	Seed      uint64    `json:"seed,omitempty"`     // of a generated cluster
	Flags     []string  `json:"flags,omitempty"`    // that a controller needs to read all of the cluster, such as --configmap=a/b
	Findings  []Finding `json:"findings,omitempty"` // of a generated cluster: all that the controller must report
}

// File returns the name of the cluster's file.
func (e Entry) File() string { return e.Name + ".yaml" }

// Entry returns the entry of a generated cluster.
func (c Cluster) Entry(name string, size int, seed uint64) Entry {
	return Entry{Name: name, Ingresses: size, Objects: len(c.Objects), Source: Generated, Seed: seed, Flags: c.Flags, Findings: c.Findings}
}

// ParseIndex reads an index.
func ParseIndex(data []byte) (Index, error) {
	var index Index
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&index); err != nil {
		return index, fmt.Errorf("not the index of a corpus: %w", err)
	}
	if index.Schema != Schema {
		return index, fmt.Errorf("the schema is %q, want %q: make the corpus again with this version", index.Schema, Schema)
	}
	seen := map[string]bool{}
	for _, entry := range index.Clusters {
		if entry.Name == "" || entry.Name != filepath.Base(entry.Name) || strings.HasPrefix(entry.Name, ".") || seen[entry.Name] {
			return index, fmt.Errorf("cluster %q: want a file name without extension, each once", entry.Name)
		}
		seen[entry.Name] = true
	}
	return index, nil
}

// With returns the index with an entry added, or replaced if it has one of that name.
func (i Index) With(entry Entry) Index {
	i.Clusters = slices.Clone(i.Clusters)
	if at := slices.IndexFunc(i.Clusters, func(e Entry) bool { return e.Name == entry.Name }); at >= 0 {
		i.Clusters[at] = entry
	} else {
		i.Clusters = append(i.Clusters, entry)
	}
	return i
}

// Bytes returns the index as a file.
func (i Index) Bytes() ([]byte, error) {
	i.Schema = Schema
	data, err := json.MarshalIndent(i, "", "  ")
	return append(data, '\n'), err
}
