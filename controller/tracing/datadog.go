package tracing

import "windtunnel.dev/controller/options"

// datadog returns the configuration of dd-opentracing-cpp.
func datadog(c options.Config) []byte {
	return encode(struct {
		Service               string  `json:"service"`
		AgentHost             string  `json:"agent_host"`
		AgentPort             int     `json:"agent_port"`
		Environment           string  `json:"environment"`
		OperationNameOverride string  `json:"operation_name_override"`
		SampleRate            float64 `json:"sample_rate"`
	}{c.DatadogServiceName, c.DatadogCollectorHost, c.DatadogCollectorPort, c.DatadogEnvironment, c.DatadogOperationNameOverride, c.DatadogSampleRate})
}
