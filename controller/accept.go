package controller

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/options"
)

// judge decides which ingresses are accepted, based on their annotations and the current ConfigMap.
type judge struct {
	configMap func() *corev1.ConfigMap // returns the controller's own; nil if there is none
	input     compile.Input

	mu      sync.Mutex
	read    *corev1.ConfigMap // the source of options
	options options.Options
}

// accept implements watch.Options.Accept.
func (j *judge) accept(ingress *networkingv1.Ingress) (denied string, err error) {
	set, _, err := annotations.Parse(ingress, j.current())
	if err != nil {
		return "", err
	}
	if set.Denied != nil {
		denied = *set.Denied
	}
	return denied, nil
}

// current returns the current options. It parses the ConfigMap again only after a change.
func (j *judge) current() options.Options {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.configMap()
	if now != j.read || j.read == nil {
		j.read = now
		j.options, _ = compile.Options(now, j.input)
	}
	return j.options
}
