package tracing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"windtunnel.dev/controller/options"
)

// openTelemetry returns the TOML file of nginx's OpenTelemetry module.
func openTelemetry(c options.Config) []byte {
	var toml bytes.Buffer
	fmt.Fprintf(&toml, `exporter = "otlp"
processor = "batch"

[exporters.otlp]
host = %s
port = %d

[processors.batch]
max_queue_size = %d
schedule_delay_millis = %d
max_export_batch_size = %d

[service]
name = %s

[sampler]
name = %s
ratio = %s
parent_based = %t
`, quote(c.OtlpCollectorHost), c.OtlpCollectorPort,
		c.OtelMaxQueueSize, c.OtelScheduleDelayMillis, c.OtelMaxExportBatchSize,
		quote(c.OtelServiceName),
		quote(c.OtelSampler), float(c.OtelSamplerRatio), c.OtelSamplerParentBased)
	return toml.Bytes()
}

// quote returns a TOML string. JSON strings are valid TOML strings.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // impossible: every string has a JSON form
	}
	return strings.ReplaceAll(string(quoted), "\x7f", `\u007f`) // TOML requires this escape, JSON does not
}

// float returns a number in a form that TOML reads as a float, not as an integer.
func float(value float64) string {
	text := strconv.FormatFloat(value, 'f', -1, 64)
	if value == float64(int64(value)) {
		return text + ".0"
	}
	return text
}
