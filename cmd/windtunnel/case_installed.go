package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/internal/suggest"
	"windtunnel.dev/sim/behave"
	caserun "windtunnel.dev/sim/behave/run"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/driver/installed"
	"windtunnel.dev/sim/driver/kind"
)

// installedFlags contains the flags that select an existing installation.
type installedFlags struct {
	kubeconfig, context string
	configMap, pods     string
	options             installed.Options
}

// The values of --pods.
const (
	poolPods  = "pool"
	localPods = "local"
)

// defaultPool is the maximum number of case pods in the default pool, unless a single case needs more.
const defaultPool = 24

// onlyInstalled are the flags that need --kubeconfig.
var onlyInstalled = []string{"url", "context", "ingress-class", "has", "config-map", "catch-all", "replicas", "pods", "pool-image"}

// neverInstalled are flags that have no meaning with --kubeconfig.
var neverInstalled = []string{"driver", "subject", "controller", "image", "nginx-binary", "allow-host-paths", "kind-image", "kubeadm", "keep", "installations", "live"}

func (f *installedFlags) add(command *cobra.Command) {
	flags, o := command.Flags(), &f.options
	flags.Lookup("flag").Usage += ". With --kubeconfig: those that the controller has; cases with others are skipped"
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "run the cases on an existing controller, in the cluster of this kubeconfig")
	flags.StringVar(&f.context, "context", "", "with --kubeconfig: context to use (default: its current one)")
	flags.StringArrayVar(&o.URLs, "url", nil, "with --kubeconfig: address of the controller, http://HOST; repeat it with https://HOST for cases that ask over TLS")
	flags.StringVar(&o.Class, "ingress-class", corpus.IngressClass, "with --kubeconfig: the controller's IngressClass")
	flags.StringArrayVar(&o.Has, "has", nil, "with --kubeconfig: a module that the controller's nginx has, such as module/http_modsecurity; cases that need others are skipped (repeatable)")
	flags.StringVar(&f.configMap, "config-map", "", "with --kubeconfig: the controller's ConfigMap, NAMESPACE/NAME, which the run may change and restores; without it, cases that change it are skipped")
	flags.BoolVar(&o.CatchAll, "catch-all", false, "with --kubeconfig: also run cases that affect requests for hosts of others, such as those with an ingress without a host")
	flags.IntVar(&o.Replicas, "replicas", 0, "with --kubeconfig: number of controllers behind the address (default: that of its Deployment or DaemonSet)")
	flags.StringVar(&f.pods, "pods", poolPods, "with --kubeconfig: "+poolPods+" runs the cases' pods in real pods of the cluster, "+localPods+" on loopback addresses of this machine")
	flags.StringVar(&o.Image, "pool-image", kind.PoolImage, "with --kubeconfig: image with windtunnel, for the real pods")
	completes(command, "pods", poolPods, localPods)
}

// chosen reports whether the cases run on an installation. The error names conflicting flags.
func (f *installedFlags) chosen(flags *pflag.FlagSet) (bool, error) {
	if f.kubeconfig == "" {
		if used := changed(flags, onlyInstalled); used != "" {
			return false, fmt.Errorf("--%s is for controllers that are installed already: name their cluster with --kubeconfig", used)
		}
		return false, nil
	}
	if used := changed(flags, neverInstalled); used != "" {
		return false, fmt.Errorf("--kubeconfig runs the cases on a controller that is installed already, and --%s is for controllers that the run starts: use one of them", used)
	}
	if flags.Changed("replicas") && f.options.Replicas < 1 {
		return false, fmt.Errorf("--replicas=%d: want at least one controller; without the flag, the number is that of its Deployment or DaemonSet", f.options.Replicas)
	}
	return true, nil
}

// target returns what the flags select: controllers that the run starts, or an installation.
func (o caseRunOptions) target(ctx context.Context, flags *pflag.FlagSet, cases []*behave.Case, stderr io.Writer) (caseTarget, error) {
	standing, err := o.installed.chosen(flags)
	if err != nil {
		return caseTarget{}, err
	}
	if !standing {
		d, err := o.subject.open(ctx)
		if err != nil {
			return caseTarget{}, err
		}
		return o.subject.target(d, cases), nil
	}
	d, err := o.installed.open(ctx, cases, o.subject.flags, o.subject.driver.kind.Pool, stderr)
	if err != nil {
		return caseTarget{}, err
	}
	t := o.subject.target(d, cases)
	t.ConfigMap, t.Bundled, t.Has, t.Installations, t.name = d.ConfigMap, o.subject.bundled, machineFulfils, 1, d.String()
	return t, nil
}

// open examines the installation for the cases. It creates nothing.
func (f *installedFlags) open(ctx context.Context, cases []*behave.Case, flags map[string]string, pool int, stderr io.Writer) (*installed.Driver, error) {
	o := f.options
	var err error
	if o.Flags, err = knownFlags(flags); err != nil {
		return nil, err
	}
	if o.ConfigMap, err = f.parseConfigMap(); err != nil {
		return nil, err
	}
	if o.API, err = liveCluster(f.kubeconfig, f.context); err != nil {
		return nil, err
	}
	switch f.pods {
	case localPods:
		if o.LocalPods = true; pool != 0 {
			return nil, errors.New("--pool is the number of real pods, and --pods=local uses none")
		}
	case poolPods:
		if o.Pool, err = poolSize(cases, pool); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("--pods=%s: want %s or %s", f.pods, poolPods, localPods)
	}
	o.Tell = func(notice string) { fmt.Fprintln(stderr, "windtunnel:", notice) }
	return installed.Open(ctx, o)
}

// poolSize returns the number of real pods: as many as wanted or, if that is 0, enough for several
// cases at the same time. It must be enough for the case with the most pods.
func poolSize(cases []*behave.Case, wanted int) (int, error) {
	most, all := caserun.Pods(cases)
	if wanted == 0 {
		return installed.PoolFor(max(most, min(all, defaultPool))), nil
	}
	if least := installed.PoolFor(most); wanted < least {
		return 0, fmt.Errorf("--pool=%d is too small: a case has %d pods, and the run needs %d for itself; use %d or more", wanted, most, least-most, least)
	}
	return wanted, nil
}

// knownFlags returns the values of --flag without dashes. A flag that the controller cannot have is an
// error.
func knownFlags(given map[string]string) (map[string]string, error) {
	known, all := controllerFlags(), map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		plain := strings.TrimLeft(name, "-")
		if !slices.Contains(known, plain) {
			hint := suggest.DidYouMean(plain, known)
			if hint != "" {
				hint = "; " + hint
			}
			return nil, fmt.Errorf("--flag=%s=%s: there is no flag %s%s", name, given[name], plain, hint)
		}
		all[plain] = given[name]
	}
	return all, nil
}

func (f *installedFlags) parseConfigMap() (types.NamespacedName, error) {
	if f.configMap == "" {
		return types.NamespacedName{}, nil
	}
	namespace, name, ok := strings.Cut(f.configMap, "/")
	if !ok || namespace == "" || name == "" {
		return types.NamespacedName{}, fmt.Errorf("--config-map=%s: want NAMESPACE/NAME", f.configMap)
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}

// machineFulfils reports whether this machine has what a case needs. The driver checks the modules of
// nginx.
func machineFulfils(need string) bool {
	has, ok := needs[need]
	return !ok || has()
}
