package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/corpus/clusters"
	"windtunnel.dev/sim/corpus/dump"
	"windtunnel.dev/sim/corpus/fetch"
	"windtunnel.dev/sim/manifest"
	"windtunnel.dev/sim/rundir"
)

// corpusImportOptions contains the flags of corpus import.
type corpusImportOptions struct {
	dump.Options
	kubeconfig string
	context    string
	out        string
	hash       bool
	keyFile    string
	format     format
}

func corpusImportCommand() *cobra.Command {
	var o corpusImportOptions
	command := &cobra.Command{
		Use:   "import DUMP | --kubeconfig FILE",
		Short: "Import your own cluster, without its private keys and passwords",
		Long: `Import your own cluster, without its private keys and passwords.

DUMP is the output of kubectl get ingress,ingressclass,svc,endpointslices,cm,secrets -A
-o yaml (or json), or - for standard input; with --kubeconfig or --context, the objects
are read from the cluster, and nothing is written to it. The result has what the
controller reads: ingresses, the Services, EndpointSlices, Secrets and ConfigMaps that
they or the controller's flags refer to. Certificates are replaced by generated ones for
the same names, and password hashes by those of one password. Prints what was taken,
replaced and left out, and which texts you should read before you share the file.
If the folder of the file is a corpus, its index gets an entry.
Exit codes: 0 imported, 2 the dump cannot be read, or the file exists.`,
		Args: arguments("[DUMP]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVarP(&o.out, "out", "o", "cluster.yaml", "the file to write")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "read from the cluster of this kubeconfig instead of a dump")
	flags.StringVar(&o.context, "context", "", "read from the cluster of this context of the kubeconfig")
	flags.BoolVar(&o.hash, "hash-names", false, "replace the names of namespaces, objects, hosts and users by hashes that cannot be guessed")
	flags.StringVar(&o.keyFile, "hash-key", "", "a file with at least 16 bytes, the key of the hashes, so that imports with the same key have the same hashes (default: a random key, which is not stored)")
	flags.StringVar(&o.AnnotationsPrefix, "annotations-prefix", dump.DefaultPrefix, "the controller's --annotations-prefix")
	o.addObjects(flags)
	o.format.add(command)
	return command
}

// addObjects adds the flags of the controller that name objects.
func (o *corpusImportOptions) addObjects(flags *pflag.FlagSet) {
	o.ConfigMap = types.NamespacedName{Namespace: "ingress-nginx", Name: "ingress-nginx-controller"}
	for _, one := range []struct {
		flag, usage string
		to          *types.NamespacedName
	}{
		{"configmap", "namespace/name of the controller's ConfigMap (default ingress-nginx/ingress-nginx-controller)", &o.ConfigMap},
		{"tcp-services-configmap", "namespace/name of the ConfigMap of TCP ports", &o.TCPServices},
		{"udp-services-configmap", "namespace/name of the ConfigMap of UDP ports", &o.UDPServices},
		{"default-backend-service", "namespace/name of the service for requests that match no ingress", &o.DefaultBackendService},
		{"default-ssl-certificate", "namespace/name of the Secret with the default certificate", &o.DefaultSSLCertificate},
	} {
		flags.Func(one.flag, one.usage, func(text string) (err error) {
			*one.to, err = parseName(text)
			return err
		})
	}
}

func (o *corpusImportOptions) run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if filepath.Ext(o.out) != ".yaml" {
		return fmt.Errorf("--out=%s: want a file name that ends in .yaml", o.out)
	}
	if _, err := os.Stat(o.out); err == nil {
		return fmt.Errorf("%s already exists: choose another --out", o.out)
	}
	if _, err := os.Stat(filepath.Dir(o.out)); err != nil {
		return fmt.Errorf("--out=%s: %w: make the folder first", o.out, err)
	}
	if err := o.completeKey(); err != nil {
		return err
	}
	said := sayIfSlow(stderr, "reading the objects")
	manifests, err := o.read(ctx, args, stdin)
	said()
	if err != nil {
		return err
	}
	said = sayIfSlow(stderr, "removing secrets from "+plural.Of(len(manifests), "object"))
	imported, err := dump.Of(manifests, o.Options)
	said()
	if err != nil {
		return err
	}
	if imported.Summary.Took["Ingress"] == 0 {
		return errors.New("the dump has no ingress: kubectl get ingress,svc,… -A -o yaml prints those of all namespaces")
	}
	entry, err := o.write(imported)
	if err != nil {
		return err
	}
	if o.format.json() {
		return printJSON(stdout, importSummary{File: o.out, Flags: entry.Flags, Summary: imported.Summary})
	}
	printImport(stdout, o.out, imported)
	return nil
}

// completeKey reads or generates the key of the hashes.
func (o *corpusImportOptions) completeKey() error {
	switch {
	case !o.hash && o.keyFile != "":
		return errors.New("--hash-key is useless without --hash-names")
	case !o.hash:
		return nil
	case o.keyFile == "":
		o.HashKey = make([]byte, 32)
		_, err := rand.Read(o.HashKey)
		return err
	}
	const least, most = 16, 1 << 20
	key, err := readfile.Read(o.keyFile, most)
	if err != nil {
		return fmt.Errorf("--hash-key: %w", err)
	}
	if len(key) < least {
		return fmt.Errorf("--hash-key: %s has %d bytes, want at least %d: head -c 32 /dev/urandom > FILE makes one", o.keyFile, len(key), least)
	}
	o.HashKey = key
	return nil
}

// read reads the objects from the dump or the cluster.
func (o *corpusImportOptions) read(ctx context.Context, args []string, stdin io.Reader) ([]manifest.Manifest, error) {
	live := o.kubeconfig != "" || o.context != ""
	switch {
	case live && len(args) > 0:
		return nil, errors.New("a dump and a cluster: leave out DUMP, or --kubeconfig and --context")
	case !live && len(args) == 0:
		return nil, errors.New("nothing to import: name a dump, or a cluster with --kubeconfig or --context")
	case !live:
		manifests, err := readManifests(args, stdin)
		if errors.Is(err, readfile.ErrTooLarge) {
			return nil, fmt.Errorf("%w; or import the cluster itself, with --kubeconfig", err)
		}
		return manifests, err
	}
	config, err := liveCluster(o.kubeconfig, o.context)
	if err != nil {
		return nil, err
	}
	return fetch.All(ctx, config)
}

// write writes the cluster, and adds it to the index of a corpus in the same folder.
func (o *corpusImportOptions) write(imported dump.Import) (clusters.Entry, error) {
	folder := filepath.Dir(o.out)
	entry := clusters.Entry{
		Name:      strings.TrimSuffix(filepath.Base(o.out), ".yaml"),
		Ingresses: imported.Summary.Took["Ingress"], Objects: len(imported.Objects), Source: clusters.Imported, Flags: imported.Flags,
	}
	text, err := imported.Manifests()
	if err != nil {
		return entry, err
	}
	var index *clusters.Index
	data, err := os.ReadFile(filepath.Join(folder, clusters.IndexFile))
	if err == nil {
		found, err := clusters.ParseIndex(data)
		if err != nil {
			return entry, fmt.Errorf("%s: %w", filepath.Join(folder, clusters.IndexFile), err)
		}
		index = &found
	} else if !errors.Is(err, os.ErrNotExist) {
		return entry, err
	}
	if err := rundir.WriteText(o.out, text); err != nil {
		return entry, err
	}
	if index == nil {
		return entry, nil
	}
	return entry, writeIndex(folder, index.With(entry))
}

// importSummary is the summary of an import as JSON.
type importSummary struct {
	File  string   `json:"file"`
	Flags []string `json:"flags"` // with which a controller reads the whole cluster
	dump.Summary
}

func printImport(out io.Writer, file string, imported dump.Import) {
	fmt.Fprintln(out, file)
	for _, part := range []struct {
		title  string
		counts map[string]int
	}{
		{"took", imported.Summary.Took},
		{"replaced", imported.Summary.Replaced},
		{"left out", imported.Summary.LeftOut},
		{"read before you share the file, because it is kept as it was written", imported.Summary.Check},
	} {
		if len(part.counts) > 0 {
			fmt.Fprintf(out, "%s:\n", part.title)
		}
		for _, what := range slices.Sorted(maps.Keys(part.counts)) {
			fmt.Fprintf(out, "  %d %s", part.counts[what], what)
			if what == "EndpointSlice" {
				fmt.Fprintf(out, ", with %s", plural.Of(imported.Summary.Endpoints, "endpoint"))
			}
			fmt.Fprintln(out)
		}
	}
	if len(imported.Flags) > 0 {
		fmt.Fprintf(out, "flags of the controller: %s\n", strings.Join(imported.Flags, " "))
	}
}
