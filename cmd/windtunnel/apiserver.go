package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/tempdir"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/controllers"
	"windtunnel.dev/sim/manifest"
)

// apiserver contains the flags of apiserver.
type apiserver struct {
	server      kubeapi.Options
	pods        controllers.Options
	controllers []string
	account     string // namespace/name, "" for none
}

func apiserverCommand() *cobra.Command {
	var a apiserver
	command := &cobra.Command{
		Use:   "apiserver [manifest file or folder]…",
		Short: "Run the simulated Kubernetes API server alone, until interrupted",
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := a.check(cmd.Flags()); err != nil {
				return err
			}
			return a.run(cmd.Context(), cmd.OutOrStdout(), paths)
		},
	}
	flags := command.Flags()
	flags.StringVar(&a.server.HTTPS, "https", "127.0.0.1:0", "address to serve HTTPS on")
	flags.StringVar(&a.server.HTTP, "http", "", "loopback address to serve plain HTTP on as well, for clients that set the token themselves (default: none)")
	flags.StringVar(&a.server.Token, "token", "", "bearer token that clients must send; required to listen beyond loopback (default: a random one)")
	flags.BoolVar(&a.server.Anonymous, "anonymous", false, "accept requests without token or certificate; loopback only")
	flags.StringVar(&a.server.Dir, "dir", "", "folder for the CA and the kubeconfig, which appears when the cluster has the manifests (default: a temporary one, removed at the end)")
	flags.BoolVar(&a.server.AllowLoopbackEndpoints, "allow-loopback-endpoints", false, "accept EndpointSlices with addresses in 127.0.0.0/8, which Kubernetes refuses")
	flags.BoolVar(&a.server.CreationTimes, "creation-times", false, "keep the creation times that new objects bring, as those of a dump do; Kubernetes replaces them")
	flags.StringVar(&a.account, "service-account", "", "service account, as NAMESPACE/NAME, whose files (token, ca.crt, namespace) are written for programs with in-cluster configuration; it is created if the manifests have none (default: none)")
	flags.StringSliceVar(&a.controllers, "controllers", []string{"all"}, "the controllers of Kubernetes to run: all, none, or some of "+strings.Join(controllers.Names(), ","))
	flags.DurationVar(&a.pods.ReadyAfter, "pod-ready-after", 0, "how long a pod takes from its start until it is ready")
	flags.DurationVar(&a.pods.StopAfter, "pod-stop-after", time.Second, "how long a pod takes from its deletion to its end, at most its grace period")
	completes(command, "controllers", append([]string{"all", "none"}, controllers.Names()...)...)
	return command
}

// controllerNames returns the names of the controllers to run.
func (a *apiserver) controllerNames() ([]string, error) {
	switch strings.Join(a.controllers, ",") {
	case "all":
		return controllers.Names(), nil
	case "none", "":
		return nil, nil
	}
	if err := controllers.Check(a.controllers); err != nil {
		return nil, fmt.Errorf("--controllers: %w, or all, or none", err)
	}
	return a.controllers, nil
}

// check returns an error if a flag has no effect, or makes no sense.
func (a *apiserver) check(flags *pflag.FlagSet) error {
	if err := cmp.Or(notNegative("pod-ready-after", a.pods.ReadyAfter), notNegative("pod-stop-after", a.pods.StopAfter)); err != nil {
		return err
	}
	names, err := a.controllerNames()
	if err != nil {
		return err
	}
	if !slices.Contains(names, "kubelet") {
		if err := refuseUnused(flags, "pods start and stop only with the kubelet, which --controllers leaves out", "pod-ready-after", "pod-stop-after"); err != nil {
			return err
		}
	}
	return checkAccount(a.account)
}

func (a *apiserver) run(ctx context.Context, out io.Writer, paths []string) error {
	names, err := a.controllerNames()
	if err != nil {
		return err
	}
	manifests, err := manifest.Load(paths...)
	if err != nil {
		return err
	}
	if a.server.Dir == "" {
		dir, err := tempdir.Make("apiserver")
		if err != nil {
			return err
		}
		defer dir.Remove()
		a.server.Dir = dir.Path
	}
	if a.server.Dir, err = filepath.Abs(a.server.Dir); err != nil { // for shells in other folders
		return err
	}
	a.server.Kubelet = slices.Contains(names, "kubelet")
	a.server.NamespaceController = slices.Contains(names, "namespace")
	a.server.ServiceAccounts = slices.Contains(names, accountController)
	a.server.Publish, a.server.KubeconfigLater = true, true
	kubeapi.DedicateProcess()
	server, err := kubeapi.Start(a.server)
	if err != nil {
		return err
	}
	err = a.serve(ctx, out, server, manifests, names)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if closeErr := server.Close(closing); err == nil {
		err = closeErr
	}
	return err
}

// serve loads the manifests and then serves clients until ctx is done.
func (a *apiserver) serve(ctx context.Context, out io.Writer, server *kubeapi.Server, manifests []manifest.Manifest, names []string) error {
	// A pod needs a service account, so the controller that creates them starts before the manifests
	// are loaded.
	early, late := splitNames(names)
	stop, err := a.startControllers(ctx, server, early)
	if err != nil {
		return err
	}
	defer stop()
	created, err := preload(ctx, server.Config(), manifests)
	switch {
	case ctx.Err() != nil:
		return nil // an interrupt is the normal end
	case err != nil:
		return err
	}
	// The other controllers start now, and process the manifests.
	if stop, err = a.startControllers(ctx, server, late); err != nil {
		return err
	}
	defer stop()
	if err := a.writeAccount(server); err != nil {
		return err
	}
	if err := server.WriteKubeconfig(); err != nil {
		return err
	}
	fmt.Fprintf(out, "export KUBECONFIG=%s\n", shellescape.Quote(server.Kubeconfig()))
	a.printAccount(out, server)
	if len(created) > 0 {
		fmt.Fprintf(out, "# created %s that no manifest contains: %s\n", plural.Of(len(created), "namespace"), strings.Join(created, ", "))
	}
	printHolds(out, "serving", server)
	<-ctx.Done()
	printHolds(out, "stopped with", server)
	return nil
}

// accountController is the name of the controller that creates service accounts.
const accountController = "serviceaccount"

func splitNames(names []string) (early, late []string) {
	for _, name := range names {
		if name == accountController {
			early = append(early, name)
		} else {
			late = append(late, name)
		}
	}
	return early, late
}

// startControllers starts the controllers with these names; without names it starts none.
func (a *apiserver) startControllers(ctx context.Context, server *kubeapi.Server, names []string) (stop func(), err error) {
	if len(names) == 0 {
		return func() {}, nil
	}
	if secure := server.TLSConfig(); secure != nil {
		a.pods.RootCA = secure.CAData
	}
	running, err := controllers.Start(ctx, server.Config(), a.pods, names...)
	if err != nil {
		return nil, err
	}
	return running.Stop, nil
}

func printHolds(out io.Writer, state string, server *kubeapi.Server) {
	holds := server.Holds()
	fmt.Fprintf(out, "# %s\n", state)
	for _, resource := range slices.Sorted(maps.Keys(holds)) {
		fmt.Fprintf(out, "# %8d %s\n", holds[resource], resource)
	}
}
