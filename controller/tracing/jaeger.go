package tracing

import (
	"net"
	"strconv"

	"windtunnel.dev/controller/options"
)

// jaeger returns the configuration of jaeger-client-cpp. The endpoint of a collector that accepts
// spans over HTTP takes precedence over the host and port of an agent.
func jaeger(c options.Config) []byte {
	type sampler struct {
		Type  string  `json:"type"`
		Param float64 `json:"param"`
		URL   string  `json:"samplingServerURL"`
	}
	type reporter struct {
		Endpoint   string `json:"endpoint,omitempty"`
		LocalAgent string `json:"localAgentHostPort,omitempty"`
	}
	type headers struct {
		TraceContext  string `json:"TraceContextHeaderName"`
		Debug         string `json:"jaegerDebugHeader"`
		Baggage       string `json:"jaegerBaggageHeader"`
		BaggagePrefix string `json:"traceBaggageHeaderPrefix"`
	}
	report := reporter{Endpoint: c.JaegerEndpoint}
	if report.Endpoint == "" {
		report.LocalAgent = net.JoinHostPort(c.JaegerCollectorHost, strconv.Itoa(c.JaegerCollectorPort))
	}
	return encode(struct {
		ServiceName       string   `json:"service_name"`
		PropagationFormat string   `json:"propagation_format"`
		Sampler           sampler  `json:"sampler"`
		Reporter          reporter `json:"reporter"`
		Headers           headers  `json:"headers"`
	}{
		c.JaegerServiceName, c.JaegerPropagationFormat,
		sampler{c.JaegerSamplerType, c.JaegerSamplerParam, c.JaegerSamplerHost + ":" + strconv.Itoa(c.JaegerSamplerPort) + "/sampling"},
		report,
		headers{c.JaegerTraceContextHeaderName, c.JaegerDebugHeader, c.JaegerBaggageHeader, c.JaegerTraceBaggageHeaderPrefix},
	})
}
