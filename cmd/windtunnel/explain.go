package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/explain"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/template"
	"windtunnel.dev/controller/tls"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/manifest"
)

// explainOptions contains the flags of explain: those of the controller, and the output format.
type explainOptions struct {
	explain.Options
	template string
	format   format
	exitCode bool
}

func (o *explainOptions) add(command *cobra.Command) {
	flags := command.Flags()
	name := func(flag, usage string, to *types.NamespacedName) {
		flags.Func(flag, "namespace/name of "+usage, func(text string) (err error) {
			*to, err = parseName(text)
			return err
		})
	}
	controller := &o.Flags
	name("configmap", "the ConfigMap with the global configuration", &o.ConfigMap)
	name("tcp-services-configmap", "the ConfigMap of TCP ports", &controller.TCPServices)
	name("udp-services-configmap", "the ConfigMap of UDP ports", &controller.UDPServices)
	name("default-backend-service", "the service for requests that match no ingress", &controller.DefaultBackendService)
	name("default-ssl-certificate", "the Secret with the default certificate", &controller.DefaultSSLCertificate)
	flags.StringVar(&o.IngressClass, "ingress-class", "nginx", "the class to serve; ingresses without a class are served as well")
	flags.BoolVar(&controller.DynamicConfiguration, "dynamic-configuration", true, "send endpoints to nginx without a reload")
	flags.StringVar(&o.template, "nginx-template", "", "nginx.tmpl to use instead of the bundled one, or its folder if it includes other files")
	flags.BoolVar(&o.exitCode, "exit-code", false, "exit with 1 if the change needs a reload")
	o.format.add(command)
}

func explainCommand() *cobra.Command {
	var o explainOptions
	command := &cobra.Command{
		Use:   "explain OLD NEW",
		Short: "Explain what a change of manifests makes nginx do, and why, without a cluster or nginx",
		Long: `Explain what a change of manifests makes nginx do, and why, without a cluster or nginx.

OLD and NEW are each a file of manifests, a folder of such files, or - for standard
input: the contents of the cluster before and after (kubectl get
ingress,service,endpointslice,secret,configmap -A -o yaml). The explanation says what
the bundled controller would do: whether it reloads nginx, with the server, the
location and the lines of nginx.conf that differ; what it sends to the running nginx;
which parts of the manifests it does not follow exactly; and how many objects have other
kinds than those above, which are not compared. nginx itself does not run, so problems that only nginx -t finds
are missing.
Exit codes: 0 explained, 1 with --exit-code: the change needs a reload, 2 the
manifests or the template cannot be read.`,
		Args: arguments("OLD", "NEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.explain(cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0], args[1])
		},
	}
	o.add(command)
	return command
}

func (o *explainOptions) explain(stdin io.Reader, stdout, stderr io.Writer, old, next string) error {
	if old == "-" && next == "-" {
		return errors.New("OLD and NEW are both standard input: use a file for one of them")
	}
	before, beforeErr := readCluster(stdin, stderr, old)
	after, afterErr := readCluster(stdin, stderr, next)
	if beforeErr != nil && afterErr != nil && beforeErr.Error() == afterErr.Error() {
		return beforeErr // both are the same file or folder
	}
	if err := errors.Join(beforeErr, afterErr); err != nil {
		return err
	}
	warnOfEmpty(stderr, old, before)
	warnOfEmpty(stderr, next, after)
	if err := o.complete(); err != nil {
		return err
	}
	said := sayIfSlow(stderr, "comparing the configurations of nginx before and after")
	explanation, err := explain.Of(before, after, o.Options)
	said()
	if err != nil {
		return err
	}
	write := explanation.Write
	if o.format.json() {
		write = func(out io.Writer) error { return printJSON(out, explanation) }
	}
	if err := write(stdout); err != nil {
		return err
	}
	if o.exitCode && explanation.Reload {
		return exitWith(judge.Failed)
	}
	return nil
}

// complete fills in the options that have no flag, and reads the template.
func (o *explainOptions) complete() (err error) {
	o.Flags.Config = options.Defaults(1, false)
	o.Flags.Ports = options.DefaultPorts
	o.Flags.Stream = options.LuaStream
	if o.Flags.DefaultCertificate, err = tls.Fake(time.Now()); err != nil {
		return err
	}
	if o.template == "" {
		return nil
	}
	if o.Template, err = template.Read(o.template); err != nil {
		return fmt.Errorf("--nginx-template: %w", err)
	}
	return nil
}

// warnOfEmpty prints a warning if the manifests contain nothing that the controller reads. This may
// be intended, for a cluster that is new or will be removed.
func warnOfEmpty(stderr io.Writer, path string, cluster *snapshot.Manifests) {
	if cluster.Empty() {
		fmt.Fprintf(stderr, "warning: %s has no ingress, service, EndpointSlice, Secret or ConfigMap: it is treated as an empty cluster\n", path)
	}
}

// readCluster reads manifests from a file, from a folder or, if the path is -, from stdin.
func readCluster(stdin io.Reader, stderr io.Writer, path string) (*snapshot.Manifests, error) {
	if path == "-" {
		defer sayIfSlow(stderr, "reading standard input")()
		text, err := manifest.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("reading manifests: %w", err)
		}
		return snapshot.FromYAML(snapshot.File{Name: "<stdin>", Data: text})
	}
	defer sayIfSlow(stderr, "reading "+path)()
	names, err := manifest.Files(path)
	if err != nil {
		return nil, err
	}
	var files []snapshot.File
	for _, name := range names {
		text, err := manifest.Read(name)
		if err != nil {
			return nil, fmt.Errorf("reading manifests: %w", err)
		}
		files = append(files, snapshot.File{Name: name, Data: text})
	}
	return snapshot.FromYAML(files...)
}
