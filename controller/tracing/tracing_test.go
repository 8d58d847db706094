package tracing

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/controller/options"
	"windtunnel.dev/internal/golden"
)

func parse(t *testing.T, data map[string]string) options.Config {
	t.Helper()
	config, findings := options.Parse(data, options.Defaults(1, false))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	return config
}

// text returns the content of a tracer's file.
func text(t *testing.T, path string, data map[string]string) string {
	t.Helper()
	return string(Files(options.Options{Config: parse(t, data)})[path])
}

const otel = "/etc/ingress-controller/telemetry/opentelemetry.toml"

func TestFiles(t *testing.T) {
	for name, test := range map[string]struct {
		path string
		data map[string]string
	}{
		"opentelemetry-defaults": {otel, nil},
		"opentelemetry": {otel, map[string]string{"otlp-collector-host": "otel.example", "otlp-collector-port": "4318", "otel-service-name": "the shop",
			"otel-sampler": "TraceIdRatioBased", "otel-sampler-ratio": "1", "otel-sampler-parent-based": "false",
			"otel-max-queuesize": "1", "otel-schedule-delay-millis": "2", "otel-max-export-batch-size": "3"}},
		"zipkin":          {OpenTracing, map[string]string{"zipkin-collector-host": "zipkin.example", "zipkin-sample-rate": "0.5"}},
		"jaeger":          {OpenTracing, map[string]string{"jaeger-collector-host": "jaeger.example", "jaeger-sampler-type": "ratelimiting", "jaeger-sampler-param": "100"}},
		"jaeger-endpoint": {OpenTracing, map[string]string{"jaeger-endpoint": "http://jaeger.example:14268/api/traces", "jaeger-collector-host": "not.used", "jaeger-propagation-format": "w3c"}},
		"datadog":         {OpenTracing, map[string]string{"datadog-collector-host": "datadog.example", "datadog-environment": "test"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := text(t, test.path, test.data)
			if test.path == OpenTracing && !json.Valid([]byte(got)) {
				t.Errorf("not JSON: %s", got)
			}
			golden.Check(t, filepath.Join("testdata", name), []byte(got))
		})
	}
}

// As in ingress-nginx, the file configures one tracer.
func TestZipkinPrecedesJaegerPrecedesDatadog(t *testing.T) {
	all := map[string]string{"zipkin-collector-host": "z.example", "jaeger-collector-host": "j.example", "datadog-collector-host": "d.example"}
	for _, tracer := range []string{"zipkin", "jaeger", "datadog"} {
		if got := text(t, OpenTracing, all); !strings.Contains(got, tracer[:1]+".example") {
			t.Errorf("the file does not configure %s: %s", tracer, got)
		}
		delete(all, tracer+"-collector-host")
	}
	if got := text(t, OpenTracing, all); got != "" {
		t.Errorf("a file without a tracer: %s", got)
	}
}

func TestFilesAreBelowTheRoot(t *testing.T) {
	files := Files(options.Options{Root: "/r", Config: parse(t, map[string]string{"zipkin-collector-host": "z", "opentelemetry-config": "/etc/nginx/otel.toml"})})
	want := []string{"/r/etc/nginx/opentracing.json", "/r/etc/nginx/otel.toml"}
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// No service name can escape from its string.
func FuzzServiceName(f *testing.F) {
	f.Add("shop")
	f.Add("a]\n[b \x7f é")
	f.Fuzz(func(t *testing.T, name string) {
		config := options.Defaults(1, false)
		config.OtelServiceName, config.ZipkinCollectorHost, config.ZipkinServiceName = name, "z", name
		toml := string(openTelemetry(config))
		if strings.Count(toml, "\n") != strings.Count(string(openTelemetry(options.Defaults(1, false))), "\n") {
			t.Errorf("the number of lines changed: %s", toml)
		}
		if !json.Valid(openTracing(config)) {
			t.Error("not JSON")
		}
	})
}
