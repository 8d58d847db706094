package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/manifest"
)

// manifestFlags are the flags that describe the controller of a user's manifests.
type manifestFlags struct {
	class     string
	configMap string
}

func (f *manifestFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.class, "ingress-class", "nginx", "class of the ingresses to test; those without a class are tested as well")
	flags.StringVar(&f.configMap, "configmap", "ingress-nginx/ingress-nginx-controller", "namespace/name of the controller's ConfigMap, if it is among the manifests")
}

// derive derives questions from the manifests at the paths. controller contains those flags of the
// controller that affect the meaning of manifests. It prints its progress, because a cluster of
// thousands of ingresses takes tens of seconds until the first answer.
func (f manifestFlags) derive(manifests []manifest.Manifest, controller map[string]string, paths []string, say io.Writer) (derive.Derived, error) {
	configMap, err := parseName(f.configMap)
	if err != nil {
		return derive.Derived{}, fmt.Errorf("--configmap=%s: %w", f.configMap, err)
	}
	fmt.Fprintf(say, "deriving requests from %s\n", plural.Of(len(manifests), "object"))
	derived := derive.Of(manifests, derive.Options{
		Class: f.class, ConfigMap: configMap, Flags: controller, Known: knownCaseNames(),
	})
	if len(derived.Cases) == 0 {
		return derived, fmt.Errorf("no ingress of the class %s in %s", f.class, strings.Join(paths, ", "))
	}
	steps := 0
	for _, c := range derived.Cases {
		steps += len(c.Steps)
	}
	fmt.Fprintf(say, "preparing %s with %s\n", plural.Of(len(derived.Cases), "case"), plural.Of(steps, "step"))
	return derived, nil
}

// parseName parses the name of an object in a namespace.
func parseName(text string) (types.NamespacedName, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(text)
	if err != nil || namespace == "" || name == "" {
		return types.NamespacedName{}, errors.New("want namespace/name")
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}

// readManifests reads files and folders; - is standard input.
func readManifests(paths []string, stdin io.Reader) ([]manifest.Manifest, error) {
	var all []manifest.Manifest
	var wrong []error
	for _, path := range paths {
		var found []manifest.Manifest
		var err error
		if path == "-" {
			var text []byte
			if text, err = manifest.ReadAll(stdin); err == nil {
				found, err = manifest.Parse("<stdin>", text)
			}
		} else {
			found, err = manifest.Load(path)
		}
		all, wrong = append(all, found...), append(wrong, err)
	}
	return all, errors.Join(wrong...)
}
