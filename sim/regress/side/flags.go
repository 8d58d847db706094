package side

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/specfile"
)

// settings are the inputs of a side that flags of the controller set.
type settings struct {
	options   options.Options
	configMap types.NamespacedName
	class     string
}

// flags are the flags of the controller that change what it renders.
var flags = map[string]func(*settings, string) error{
	"configmap":                    nameFlag(func(s *settings) *types.NamespacedName { return &s.configMap }),
	"tcp-services-configmap":       nameFlag(func(s *settings) *types.NamespacedName { return &s.options.TCPServices }),
	"udp-services-configmap":       nameFlag(func(s *settings) *types.NamespacedName { return &s.options.UDPServices }),
	"default-backend-service":      nameFlag(func(s *settings) *types.NamespacedName { return &s.options.DefaultBackendService }),
	"default-ssl-certificate":      nameFlag(func(s *settings) *types.NamespacedName { return &s.options.DefaultSSLCertificate }),
	"publish-service":              nameFlag(func(s *settings) *types.NamespacedName { return &s.options.PublishService }),
	"dynamic-configuration":        boolFlag(func(s *settings, on bool) { s.options.DynamicConfiguration = on }),
	"enable-metrics":               boolFlag(func(s *settings, on bool) { s.options.EnableMetrics = on }),
	"enable-ssl-passthrough":       boolFlag(func(s *settings, on bool) { s.options.EnableSSLPassthrough = on }),
	"report-workers":               boolFlag(func(s *settings, on bool) { s.options.ReportWorkers = on }),
	"disable-svc-external-name":    boolFlag(func(s *settings, on bool) { s.options.DisableExternalNames = on }),
	"enable-annotation-validation": boolFlag(func(s *settings, on bool) { s.options.SkipAnnotationValidation = !on }),
	"annotations-prefix":           textFlag(func(s *settings) *string { return &s.options.AnnotationsPrefix }),
	"ingress-class":                textFlag(func(s *settings) *string { return &s.class }),
	"health-check-path":            textFlag(func(s *settings) *string { return &s.options.HealthPath }),
}

func nameFlag(of func(*settings) *types.NamespacedName) func(*settings, string) error {
	return func(s *settings, value string) error {
		namespace, name, err := cache.SplitMetaNamespaceKey(value)
		if err != nil || namespace == "" || name == "" {
			return fmt.Errorf("%q is not of the form namespace/name", value)
		}
		*of(s) = types.NamespacedName{Namespace: namespace, Name: name}
		return nil
	}
}

func boolFlag(apply func(*settings, bool)) func(*settings, string) error {
	return func(s *settings, value string) error {
		on, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", value)
		}
		apply(s, on)
		return nil
	}
}

func textFlag(of func(*settings) *string) func(*settings, string) error {
	return func(s *settings, value string) error {
		*of(s) = value
		return nil
	}
}

// settingsOf returns the settings that result from flags.
func settingsOf(given map[string]string) (settings, error) {
	s := settings{
		configMap: regress.ConfigMap,
		class:     "nginx",
		options: options.Options{
			DynamicConfiguration: true, EnableMetrics: true, MonitorBatchSize: 10000, ReportWorkers: true,
			HealthPath: "/healthz", AnnotationsPrefix: annotations.DefaultPrefix, Ports: options.DefaultPorts,
		},
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		apply, known := flags[name]
		if !known {
			return s, fmt.Errorf("flag.%s is not supported here; %s", name, specfile.Choose(name, "flags", slices.Sorted(maps.Keys(flags))))
		}
		if err := apply(&s, given[name]); err != nil {
			return s, fmt.Errorf("flag.%s: %w", name, err)
		}
	}
	return s, nil
}
