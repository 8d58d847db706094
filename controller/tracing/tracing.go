// Package tracing renders the configuration files of nginx's tracing modules, which contain, for
// example, the address of the collector. It stands between the ConfigMap and those modules. Its one
// rule: it has only pure functions from options to bytes, and one source file per tracer.
package tracing

import (
	"bytes"
	"encoding/json"

	"windtunnel.dev/controller/options"
)

// OpenTracing is the path of the OpenTracing modules' configuration; see options.Path.
const OpenTracing = "/etc/nginx/opentracing.json"

// Files returns the configuration files of the tracers, by path. As in ingress-nginx, the file of
// OpenTelemetry always exists. The file of OpenTracing exists if a collector is configured.
func Files(opts options.Options) map[string][]byte {
	config := opts.Config
	files := map[string][]byte{opts.Path(config.OpentelemetryConfig): openTelemetry(config)}
	if text := openTracing(config); text != nil {
		files[opts.Path(OpenTracing)] = text
	}
	return files
}

// openTracing returns the configuration of the first tracer with a collector, in the order of
// ingress-nginx; nil if there is none.
func openTracing(config options.Config) []byte {
	switch {
	case config.ZipkinCollectorHost != "":
		return zipkin(config)
	case config.JaegerCollectorHost != "" || config.JaegerEndpoint != "":
		return jaeger(config)
	case config.DatadogCollectorHost != "":
		return datadog(config)
	}
	return nil
}

// encode returns indented JSON, for human readers.
func encode(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		panic(err) // impossible: all values have a JSON form
	}
	return text.Bytes()
}
