package report_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/jstemmer/go-junit-report/v2/junit"
	"golang.org/x/perf/benchfmt"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
)

func TestFormats(t *testing.T) {
	for format, write := range map[string]func(io.Writer, measure.Result, []report.Outcome) error{
		"report.md": report.Markdown,
		"junit.xml": report.JUnit,
		"bench.txt": func(w io.Writer, result measure.Result, _ []report.Outcome) error { return report.Benchmark(w, result) },
	} {
		t.Run(format, func(t *testing.T) {
			result, _, outcomes := measured(t)
			var out bytes.Buffer
			if err := write(&out, result, outcomes); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/"+format, out.Bytes())
			result, _, outcomes = measured(t, void...)
			out.Reset()
			if err := write(&out, result, outcomes); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/void-"+format, out.Bytes())
		})
	}
}

// What is written is what benchstat reads.
func TestBenchmarkIsRead(t *testing.T) {
	result, _, _ := measured(t)
	var out bytes.Buffer
	if err := report.Benchmark(&out, result); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for reader := benchfmt.NewReader(&out, "bench.txt"); reader.Scan(); {
		line, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("read %v", reader.Result())
		}
		s := result.Subjects[lines]
		if got, ok := line.Value("reloads"); !ok || int(got) != s.Reloads {
			t.Errorf("%s: reloads %v, want %d", line.Name, got, s.Reloads)
		}
		if !strings.HasSuffix(line.Name.String(), "/subject="+s.Name) {
			t.Errorf("name %s for subject %s", line.Name, s.Name)
		}
		lines++
	}
	if lines != len(result.Subjects) {
		t.Errorf("%d lines for %d subjects", lines, len(result.Subjects))
	}
}

func TestJUnitCounts(t *testing.T) {
	result, _, outcomes := measured(t)
	var out bytes.Buffer
	if err := report.JUnit(&out, result, outcomes); err != nil {
		t.Fatal(err)
	}
	var read junit.Testsuites
	if err := xml.Unmarshal(out.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, o := range outcomes {
		if !o.OK {
			failed++
		}
	}
	if want := len(outcomes) + len(result.Subjects); read.Tests != want || read.Failures != failed || failed == 0 || read.Errors != 0 {
		t.Errorf("%d tests, %d failures, %d errors; want %d, %d (at least one), 0", read.Tests, read.Failures, read.Errors, want, failed)
	}
}
