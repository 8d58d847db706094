package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"windtunnel.dev/sim/specfile"
)

// liveCluster finds a cluster in the same way as kubectl.
func liveCluster(kubeconfig, context string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	client := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: context})
	if all, err := client.RawConfig(); err == nil && context != "" && all.Contexts[context] == nil {
		contexts := slices.Collect(maps.Keys(all.Contexts))
		return nil, fmt.Errorf("--context=%s: there is no such context; %s, and --kubeconfig names another file", context, specfile.Choose(context, "contexts", contexts))
	}
	config, err := client.ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, errors.New("finding the cluster: there is no kubeconfig: name one with --kubeconfig")
	case err != nil:
		return nil, fmt.Errorf("finding the cluster: %w; --kubeconfig names another file", err)
	}
	return config, nil
}
