package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/corpus/clusters"
	"windtunnel.dev/sim/rundir"
)

func corpusCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "corpus",
		Short: "Generate realistic clusters, or import your own, as files of manifests",
		Long: `Generate realistic clusters, or import your own, as files of manifests.

A corpus is a folder with one file of manifests per cluster, NAME.yaml, and an index,
index.json. The format is described in docs/corpus.md.`,
	}
	command.AddCommand(corpusMakeCommand(), endsAtOnce(corpusImportCommand()))
	return command
}

// corpusMakeOptions contains the flags of corpus make.
type corpusMakeOptions struct {
	out    string
	seed   uint64
	sizes  []int
	format format
}

func corpusMakeCommand() *cobra.Command {
	var o corpusMakeOptions
	command := &cobra.Command{
		Use:   "make -o FOLDER",
		Short: "Generate clusters with the annotations, certificates, paths and mistakes of many applications",
		Long: `Generate clusters with the annotations, certificates, paths and mistakes of many applications.

Writes one file of manifests per size, and an index with the flags that a controller
needs to read all of a cluster, and the problems that it must report about the broken objects. The
same seed and size give the same bytes on every machine.
Exit codes: 0 written, 2 the flags are wrong or the folder has such files already,
130 interrupted (nothing is left).`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.make(cmd.Context(), cmd.OutOrStdout()) },
	}
	flags := command.Flags()
	flags.StringVarP(&o.out, "out", "o", "", "the folder for the corpus (required)")
	flags.Uint64Var(&o.seed, "seed", 1, "the source of all randomness")
	flags.IntSliceVar(&o.sizes, "size", []int{10, 100, 1000, 5000}, "how many ingresses each cluster has")
	o.format.add(command)
	return command
}

func (o corpusMakeOptions) make(ctx context.Context, stdout io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	removeEmpty, err := makeOut(&o.out, "corpus")
	if err != nil {
		return err
	}
	defer removeEmpty()
	index, err := o.write(ctx)
	if err != nil {
		return err
	}
	if o.format.json() {
		return printJSON(stdout, index)
	}
	for _, entry := range index.Clusters {
		fmt.Fprintf(stdout, "%s: %s, %s, %s expected\n", filepath.Join(o.out, entry.File()),
			plural.Of(entry.Ingresses, "ingress", "ingresses"), plural.Of(entry.Objects, "object"), plural.Of(len(entry.Findings), "finding"))
	}
	return nil
}

// write writes the clusters and then their index. If that fails, or ctx ends, it removes the files
// that it has written: without an index, a corpus seems to need no flags of the controller.
func (o corpusMakeOptions) write(ctx context.Context) (index clusters.Index, err error) {
	index.Schema = clusters.Schema
	defer func() {
		if err != nil {
			for _, entry := range index.Clusters {
				err = errors.Join(err, os.Remove(filepath.Join(o.out, entry.File())))
			}
		}
	}()
	for _, size := range o.sizes {
		entry, text, err := o.generate(ctx, size)
		if err != nil {
			return index, err
		}
		if err := rundir.WriteText(filepath.Join(o.out, entry.File()), text); err != nil {
			return index, err
		}
		index = index.With(entry)
	}
	return index, writeIndex(o.out, index)
}

// generate returns a cluster's index entry and manifests. It may take half a minute, and ends as
// soon as ctx does.
func (o corpusMakeOptions) generate(ctx context.Context, size int) (clusters.Entry, []byte, error) {
	var entry clusters.Entry
	var text []byte
	err := untilDone(ctx, func() (err error) {
		c := clusters.Generate(size, o.seed)
		entry = c.Entry(nameOfSize(size), size, o.seed)
		text, err = c.Manifests()
		return err
	})
	if err != nil {
		return clusters.Entry{}, nil, err
	}
	return entry, text, nil
}

// nameOfSize returns the name of the cluster with the given number of ingresses.
func nameOfSize(size int) string { return fmt.Sprintf("ingresses-%d", size) }

func (o corpusMakeOptions) check() error {
	if o.out == "" {
		return errors.New("--out is missing: name a folder for the corpus")
	}
	if len(o.sizes) == 0 {
		return errors.New("--size is empty: name at least one number of ingresses")
	}
	for n, size := range o.sizes {
		if size < clusters.Smallest || size > clusters.Largest {
			return fmt.Errorf("--size=%d: want %d to %d ingresses", size, clusters.Smallest, clusters.Largest)
		}
		for _, other := range o.sizes[:n] {
			if other == size {
				return fmt.Errorf("--size has %d twice", size)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(o.out, clusters.IndexFile)); err == nil {
		return fmt.Errorf("%s has a corpus already: choose another --out", o.out)
	}
	for _, size := range o.sizes {
		file := filepath.Join(o.out, clusters.Entry{Name: nameOfSize(size)}.File())
		if _, err := os.Stat(file); err == nil {
			return fmt.Errorf("%s exists already: choose another --out", file)
		}
	}
	return nil
}

func writeIndex(folder string, index clusters.Index) error {
	data, err := index.Bytes()
	if err != nil {
		return err
	}
	return rundir.WriteText(filepath.Join(folder, clusters.IndexFile), data)
}
