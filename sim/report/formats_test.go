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
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	for format, write := range map[string]func(io.Writer, measure.Result, measure.Series, []judge.Check) error{
		"report.md": report.Markdown,
		"junit.xml": func(w io.Writer, result measure.Result, _ measure.Series, checks []judge.Check) error {
			return report.JUnit(w, result, checks)
		},
		"bench.txt": func(w io.Writer, result measure.Result, _ measure.Series, _ []judge.Check) error {
			return report.Benchmark(w, result)
		},
	} {
		t.Run(format, func(t *testing.T) {
			result, series, checks := measured(t)
			var out bytes.Buffer
			if err := write(&out, result, series, checks); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/"+format, out.Bytes())
			result, series, checks = measured(t, void...)
			out.Reset()
			if err := write(&out, result, series, checks); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/void-"+format, out.Bytes())
		})
	}
}

// benchstat can read the output.
func TestBenchstatReadsTheOutput(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	result, _, checks := measured(t)
	var out bytes.Buffer
	if err := report.JUnit(&out, result, checks); err != nil {
		t.Fatal(err)
	}
	var read junit.Testsuites
	if err := xml.Unmarshal(out.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, o := range checks {
		if !o.OK {
			failed++
		}
	}
	if want := len(checks) + len(result.Subjects); read.Tests != want || read.Failures != failed || failed == 0 || read.Errors != 0 {
		t.Errorf("%d tests, %d failures, %d errors; want %d, %d (at least one), 0", read.Tests, read.Failures, read.Errors, want, failed)
	}
}

// Every format reports that a run is void, and none reports that one of its expectations is met.
func TestEveryFormatReportsVoid(t *testing.T) {
	t.Parallel()
	result, series, checks := measured(t, void...)
	for format, test := range map[string]struct {
		write func(io.Writer) error
		says  []string
		not   []string
	}{
		"table":    {func(w io.Writer) error { return report.Table(w, result, series, checks) }, []string{"VOID", "not judged"}, []string{"pass", "FAIL"}},
		"markdown": {func(w io.Writer) error { return report.Markdown(w, result, series, checks) }, []string{"VOID", "not judged"}, []string{"pass", "fail*"}},
		"page":     {func(w io.Writer) error { return report.HTML(w, result, series, checks) }, []string{"<title>VOID", "void run", "6 expectations not judged"}, []string{`badge good"`, "expectations met", ">met<", ">not met<"}},
		"junit":    {func(w io.Writer) error { return report.JUnit(w, result, checks) }, []string{`<error message="the run is void: `, "not judged"}, []string{"<failure"}},
		"json":     {func(w io.Writer) error { return report.JSON(w, result, checks) }, []string{`"void": true`, `"ok": false`}, []string{`"ok": true`}},
	} {
		var out bytes.Buffer
		if err := test.write(&out); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.says {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s lacks %q", format, want)
			}
		}
		for _, wrong := range test.not {
			if strings.Contains(out.String(), wrong) {
				t.Errorf("%s contains %q", format, wrong)
			}
		}
	}
}
