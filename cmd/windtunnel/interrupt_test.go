package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// ended is the context of a command that a signal has ended.
func ended() context.Context {
	ctx, end := context.WithCancel(context.Background())
	end()
	return ctx
}

// A command that computes for a long time, and does not look at the context, ends.
func TestEndsAtOnce(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	never := make(chan struct{})
	defer close(never)
	command := endsAtOnce(&cobra.Command{SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error {
		end()
		<-never
		return nil
	}})
	command.SetArgs(nil)
	if code := codeOf(ctx, command.ExecuteContext(ctx)); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

func TestCommandsThatComputeEndWhenInterrupted(t *testing.T) {
	folder := t.TempDir()
	for _, args := range [][]string{
		{"predict", "--set", "ingresses=10,touch=1/s"},
		{"corpus", "make", "-o", filepath.Join(folder, "corpus")},
		{"calibrate", folder, "--out", filepath.Join(folder, "parameters.yaml")},
		{"compare", folder, folder},
		{"explain", folder, folder},
		{"report", folder},
		{"validate", folder},
		{"history", "report", folder},
		{"history", "check", folder},
	} {
		var stdout, stderr bytes.Buffer
		if code := Main(ended(), args, &stdout, &stderr); code != exitInterrupted || stdout.Len() > 0 {
			t.Errorf("%v: exit code %d, %s%s", args, code, stdout.String(), stderr.String())
		}
	}
}

// A command that waits for its standard input ends, too.
func TestCommandsThatReadEndWhenInterrupted(t *testing.T) {
	for _, args := range [][]string{
		{"case", "record", "-", "-o", filepath.Join(t.TempDir(), "cases")},
		{"corpus", "import", "-", "-o", filepath.Join(t.TempDir(), "mine.yaml")},
		{"explain", "-", t.TempDir()},
		{"migrate", "-", "--to", "bundled,name=new", "-o", filepath.Join(t.TempDir(), "report")},
	} {
		ctx, end := context.WithCancel(context.Background())
		stdin := readerFunc(func([]byte) (int, error) {
			end()
			select {}
		})
		var stderr bytes.Buffer
		if code := mainWith(ctx, args, stdin, io.Discard, &stderr); code != exitInterrupted {
			t.Errorf("%v: exit code %d, %s", args, code, stderr.String())
		}
	}
}

// Deriving requests from a large cluster takes minutes. Nothing is written before that.
func TestCommandsThatDeriveRequestsEndWhenInterrupted(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	for _, args := range [][]string{
		{"case", "record", "../../examples/migrate/shop.yaml", "-o", out},
		{"migrate", "../../examples/migrate/shop.yaml", "--to", "bundled,name=new", "-o", out},
	} {
		var stderr bytes.Buffer
		if code := Main(ended(), args, io.Discard, &stderr); code != exitInterrupted {
			t.Errorf("%v: exit code %d, %s", args, code, stderr.String())
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%v: made %s", args, out)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(into []byte) (int, error) { return f(into) }

// A run of cases that was interrupted says how it is continued.
func TestInterruptedCasesCanBeContinued(t *testing.T) {
	folder := t.TempDir()
	out := filepath.Join(folder, "out")
	err := os.WriteFile(filepath.Join(folder, "one.yaml"), []byte(`
apiVersion: windtunnel.dev/v1
kind: Case
spec:
  summary: a case
  steps:
  - request: GET http://one.example/
    expect: {status: 404}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	if code := Main(ended(), []string{"case", "run", "--controller=/bin/true", "-o", out, folder}, io.Discard, &stderr); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	if want := "windtunnel: continue with --resume --out " + out + "\n"; !strings.HasSuffix(stderr.String(), want) {
		t.Errorf("%s\nwant %s", stderr.String(), want)
	}
}
