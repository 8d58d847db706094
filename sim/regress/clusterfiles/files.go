// Package clusterfiles reads the clusters of a comparison from files of manifests or behaviour
// cases, and generates clusters if no files are named. Its one rule: it returns what is in the
// files, and the flags that they need, and renders nothing.
package clusterfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/corpus/clusters"
	"windtunnel.dev/sim/manifest"
	"windtunnel.dev/sim/regress"
)

// sizes are the numbers of ingresses of the generated clusters, and seed is their seed.
var sizes = []int{10, 100, 1000}

const seed = 1

// Generated returns the corpus of windtunnel corpus make, and the flags that it needs.
func Generated() (all []regress.Cluster, flags map[string]string, err error) {
	flags = map[string]string{}
	for _, size := range sizes {
		c := clusters.Generate(size, seed)
		text, err := c.Manifests()
		if err != nil {
			return nil, nil, err
		}
		name := fmt.Sprintf("ingresses-%d", size)
		all = append(all, regress.NewCluster(name, text))
		if err := addFlags(flags, c.Flags); err != nil {
			return nil, nil, err
		}
	}
	return all, flags, nil
}

// addFlags adds flags of a cluster, such as --configmap=a/b, to those of others.
func addFlags(all map[string]string, flags []string) error {
	for _, flag := range flags {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		if before, is := all[name]; is && before != value {
			return fmt.Errorf("clusters of the corpus need --%s=%s and --%s=%s: compare them separately", name, before, name, value)
		}
		all[name] = value
	}
	return nil
}

// Read reads the clusters of a corpus: each file of manifests, and each case, is one. It returns the
// flags that their index names, too. known are the names that cases may use. An error names each file
// that is wrong, and its line.
func Read(paths []string, known behave.Known) (all []regress.Cluster, flags map[string]string, err error) {
	flags = map[string]string{}
	for _, path := range paths {
		if err := readFlags(flags, path); err != nil {
			return nil, nil, err
		}
	}
	all, err = readClusters(paths, known)
	return all, flags, err
}

// ReadManifests reads the clusters that are files of manifests, without cases. It returns the flags that
// their index names, too.
func ReadManifests(paths []string) (all []regress.Cluster, flags map[string]string, err error) {
	clusters, flags, err := Read(paths, behave.Known{})
	return slices.DeleteFunc(clusters, func(c regress.Cluster) bool { return c.Case }), flags, err
}

// readFlags adds the flags of the clusters that a path names, if an index lists them.
func readFlags(flags map[string]string, path string) error {
	folder, only := path, ""
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		folder, only = filepath.Dir(path), filepath.Base(path)
	}
	file := filepath.Join(folder, clusters.IndexFile)
	text, err := manifest.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the corpus: %w", err)
	}
	index, err := clusters.ParseIndex(text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, entry := range index.Clusters {
		if only == "" || entry.File() == only {
			if err := addFlags(flags, entry.Flags); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return nil
}

func readClusters(paths []string, known behave.Known) ([]regress.Cluster, error) {
	files, err := filesOf(paths)
	if err != nil {
		return nil, err
	}
	names := map[string]int{}
	for _, file := range files {
		names[withoutExtension(file)]++
	}
	var all []regress.Cluster
	var wrong []error
	for _, file := range files {
		name := withoutExtension(file)
		if names[name] > 1 {
			name = file
		}
		c, err := readCluster(name, file, known)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		all = append(all, c)
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	return all, nil
}

// filesOf returns the files of paths, each once.
func filesOf(paths []string) (all []string, err error) {
	for _, path := range paths {
		files, err := manifest.Files(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if !slices.Contains(all, file) {
				all = append(all, file)
			}
		}
	}
	return all, nil
}

func withoutExtension(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) }

func readCluster(name, file string, known behave.Known) (regress.Cluster, error) {
	text, err := manifest.Read(file)
	if err != nil {
		return regress.Cluster{}, fmt.Errorf("reading the corpus: %w", err)
	}
	fromCase := isCase(text)
	if fromCase {
		c, err := behave.Load(file, known)
		if err != nil {
			return regress.Cluster{}, err
		}
		if text, err = OfCase(c); err != nil {
			return regress.Cluster{}, fmt.Errorf("%s: %w", file, err)
		}
		file = name // the lines differ from those of the file
	}
	c := regress.NewClusterOfFile(name, file, text)
	c.Case = fromCase
	_, err = c.Source()
	return c, err
}

// isCase reports whether the first document is that of a case, which may have other errors.
func isCase(text []byte) bool {
	var head struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
	}
	_ = yaml.Unmarshal(text, &head) // reads the first document only
	return head.APIVersion == behave.APIVersion && head.Kind == behave.Kind
}
