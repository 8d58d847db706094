package controller

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
)

// judge tells which ingresses are taken, by their annotations and what the
// ConfigMap says of those now.
type judge struct {
	configMap func() *corev1.ConfigMap // the controller's own; nil is none
	flags     options.Options

	mu   sync.Mutex
	read *corev1.ConfigMap // that options are of
	options.Options
}

// check is watch.Options.Check.
func (j *judge) check(ingress *networkingv1.Ingress) (denied string, err error) {
	set, _, err := annotations.Parse(ingress, j.current())
	if err != nil {
		return "", err
	}
	if set.Denied != nil {
		denied = *set.Denied
	}
	return denied, nil
}

// current reads the ConfigMap when there is another one than before.
func (j *judge) current() options.Options {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.configMap()
	if now != j.read || j.read == nil {
		j.read = now
		j.Options, _ = withConfigMap(j.flags, now)
	}
	return j.Options
}

// withConfigMap is the flags' options with what the ConfigMap says; it may be nil.
func withConfigMap(flags options.Options, config *corev1.ConfigMap) (options.Options, []options.Finding) {
	var data map[string]string
	if config != nil {
		data = config.Data
	}
	opts := flags
	var findings []options.Finding
	opts.Config, findings = options.Parse(data, flags.Config)
	opts, unknown := opts.KeepUsable(flags.Config)
	findings = append(findings, unknown...)
	return opts, findings
}
