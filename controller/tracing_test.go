package controller_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTracerFilesAreWritten(t *testing.T) {
	t.Parallel()
	r := launch(t, true)
	r.log.next("ready")
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join(r.root, path))
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	const otel, opentracing = "etc/ingress-controller/telemetry/opentelemetry.toml", "etc/nginx/opentracing.json"
	if got := read(otel); !strings.Contains(got, "port = 4317") {
		t.Errorf("%s: %s", otel, got)
	}
	update := r.client.CoreV1().ConfigMaps("default").Update
	r.configure(map[string]string{"otlp-collector-port": "4318", "zipkin-collector-host": "zipkin.example"}, update)
	if sync := r.awaitSync(reloaded); !strings.Contains(strings.Join(sync.Why, "\n"), "opentelemetry.toml: port = 4317 -> opentelemetry.toml: port = 4318") {
		t.Errorf("the reload's reasons are %v", sync.Why)
	}
	if got := read(otel) + read(opentracing); !strings.Contains(got, "port = 4318") || !strings.Contains(got, "zipkin.example") {
		t.Errorf("after the change: %s", got)
	}
	r.configure(map[string]string{}, update)
	r.awaitSync(reloaded)
	if got := read(opentracing); !strings.Contains(got, "no such file") {
		t.Errorf("the file remains: %s", got)
	}
}

// If a tracer's file cannot be written, the controller reports it and continues.
func TestTracerFileThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	r := launch(t, true, func(r *running) { r.service(pod(t, "127.88.0.1", "one")) })
	r.awaitAnswer("one")
	update := r.client.CoreV1().ConfigMaps("default").Update
	r.configure(map[string]string{"opentelemetry-config": "/proc/1/none/otel.toml", "otlp-collector-port": "4318"}, update)
	sync := r.awaitSync(reloaded)
	if why := strings.Join(sync.Why, "\n"); sync.Error != "" || !strings.Contains(why, "opentelemetry.toml: port = 4318") {
		t.Errorf("got %+v", sync)
	}
	if event := r.awaitEvent("ConfigMap", "Misconfigured"); !strings.Contains(event.Message, "opentelemetry-config") || !strings.Contains(event.Message, "using /etc/ingress-controller/telemetry") {
		t.Errorf("got %+v", event)
	}
}
