package tracing

import "windtunnel.dev/controller/options"

// zipkin returns the configuration of zipkin-cpp-opentracing.
func zipkin(c options.Config) []byte {
	return encode(struct {
		ServiceName   string  `json:"service_name"`
		CollectorHost string  `json:"collector_host"`
		CollectorPort int     `json:"collector_port"`
		SampleRate    float64 `json:"sample_rate"`
	}{c.ZipkinServiceName, c.ZipkinCollectorHost, c.ZipkinCollectorPort, c.ZipkinSampleRate})
}
