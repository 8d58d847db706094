package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/perf/benchfmt"

	"windtunnel.dev/sim/measure"
)

// Benchmark writes the figures in Go's benchmark format
// (https://go.dev/design/14313-benchmark-format), one line per subject, so that benchstat can read
// them: one file per run, or the files of several runs appended. A subject whose run is void has no
// line.
func Benchmark(w io.Writer, result measure.Result) error {
	out := benchfmt.NewWriter(w)
	var config []benchfmt.Config
	for _, key := range slices.Sorted(maps.Keys(result.Run.Environment)) {
		config = append(config, benchfmt.Config{Key: configKey(key), Value: []byte(oneLine(result.Run.Environment[key])), File: true})
	}
	config = append(config, benchfmt.Config{Key: "seed", Value: fmt.Append(nil, result.Run.Seed), File: true})
	for _, s := range result.Subjects {
		if !s.Valid {
			continue
		}
		line := benchfmt.Result{Config: config, Name: benchfmt.Name(benchmarkName(result.Run.Scenario) + "/subject=" + dashed(s.Name)), Iters: 1}
		for _, figure := range measure.Figures() {
			if value, ok := figure.Of(s); ok {
				line.Values = append(line.Values, benchfmt.Value{Value: value, Unit: figure.Unit})
			}
		}
		if err := out.Write(&line); err != nil {
			return fmt.Errorf("writing the benchmark lines: %w", err)
		}
	}
	return nil
}

// benchmarkName converts reload-vs-dynamic to ReloadVsDynamic. The format requires an upper case
// letter after the prefix Benchmark, which its writer adds.
func benchmarkName(scenario string) string {
	var name strings.Builder
	for word := range strings.FieldsFuncSeq(scenario, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		first, length := utf8.DecodeRuneInString(word)
		name.WriteString(string(unicode.ToUpper(first)) + word[length:])
	}
	return name.String()
}

// configKey returns a key of the format: lower case, without spaces.
func configKey(key string) string { return dashed(strings.ToLower(key)) }

func dashed(text string) string { return strings.Join(strings.Fields(text), "-") }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
