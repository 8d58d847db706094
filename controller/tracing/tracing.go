// Package tracing writes the files by which nginx's tracing modules know where
// to send spans. It stands between the ConfigMap and those modules. Its one
// rule: pure functions from options to bytes, one tracer a file.
package tracing

import (
	"bytes"
	"encoding/json"

	"windtunnel.dev/controller/options"
)

// OpenTracing is where its modules find their configuration; see options.Path.
const OpenTracing = "/etc/nginx/opentracing.json"

// Files are the tracers' files, by path: OpenTelemetry's always, as in
// ingress-nginx, and OpenTracing's if a collector is named.
func Files(opts options.Options) map[string][]byte {
	config := opts.Config
	files := map[string][]byte{opts.Path(config.OpentelemetryConfig): openTelemetry(config)}
	if text := openTracing(config); text != nil {
		files[opts.Path(OpenTracing)] = text
	}
	return files
}

// openTracing is the configuration of the first tracer whose collector is
// named, in ingress-nginx's order; nil when none is.
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

// encode writes JSON for people to read, too.
func encode(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		panic(err) // only for values that JSON does not have
	}
	return text.Bytes()
}
