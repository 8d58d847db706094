package compile

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/internal/inplace"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// Options returns the flags combined with the values of the controller's ConfigMap, which may be
// nil, and findings about values that cannot be used.
func Options(config *corev1.ConfigMap, in Input) (options.Options, []model.Finding) {
	var data map[string]string
	if config != nil {
		data = config.Data
	}
	opts, defaults := in.Options, in.Options.Config
	var problems []options.Problem
	opts.Config, problems = options.Parse(data, defaults)
	opts, unusable := opts.KeepUsable(defaults)
	problems = append(problems, unusable...)
	if path := opts.Config.OpentelemetryConfig; in.Writable != nil && path != defaults.OpentelemetryConfig {
		if err := in.Writable(opts.Path(path)); err != nil { // one key must not prevent every reload
			opts.Config.OpentelemetryConfig = defaults.OpentelemetryConfig
			problems = append(problems, options.Problem{Key: "opentelemetry-config", Value: path, Reason: err.Error(), Used: defaults.OpentelemetryConfig})
		}
	}
	var findings []model.Finding
	for _, problem := range problems {
		findings = append(findings, model.Finding{Object: "ConfigMap " + in.ConfigMap.String(), Reason: problem.String()})
	}
	return opts, findings
}

// optionsMemo caches the last result of Options. It compares ConfigMaps by identity, because nobody
// modifies them.
type optionsMemo struct {
	known    bool
	name     types.NamespacedName
	config   *corev1.ConfigMap
	flags    options.Options
	comparer inplace.Comparer[options.Options]
	options  options.Options
	findings []model.Finding
}

// of returns the result of Options.
func (m *optionsMemo) of(config *corev1.ConfigMap, in Input) (options.Options, []model.Finding) {
	if !m.known || in.ConfigMap != m.name || config != m.config || !m.comparer.Equal(in.Options, &m.flags) {
		m.options, m.findings = Options(config, in)
		m.known, m.name, m.config, m.flags = !readsFiles(config, in), in.ConfigMap, config, in.Options
	}
	return m.options, m.findings
}

// readsFiles reports whether the result of Options can change while its arguments stay the same.
func readsFiles(config *corev1.ConfigMap, in Input) bool {
	return in.Writable != nil && config != nil && config.Data["opentelemetry-config"] != ""
}
