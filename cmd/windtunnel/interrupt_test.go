package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// ended is the context of a command that a signal has ended.
func ended() context.Context {
	ctx, end := context.WithCancel(context.Background())
	end()
	return ctx
}

// A command ends even if it computes for a long time and ignores the context.
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

// A command ends even if the cluster does not answer.
func TestCommandsThatOpenAClusterEndWhenInterrupted(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	finish := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		end()
		<-finish
	}))
	defer silent.Close()
	defer close(finish)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: c, context: {cluster: c}}], current-context: c}`, silent.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		code <- Main(ctx, []string{"run", "--driver=cluster", "--kubeconfig=" + kubeconfig, "-o", t.TempDir(), "../../scenarios/endpoints/rolling-update-drain.yaml"}, io.Discard, &stderr)
	}()
	select {
	case got := <-code:
		if got != exitInterrupted {
			t.Errorf("exit code %d, %s", got, stderr.String())
		}
	case <-time.After(20 * time.Second):
		t.Error("the command has not ended")
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(into []byte) (int, error) { return f(into) }

// An interrupted run of cases prints the flags that continue it.
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
