package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/nginxtest"
)

// gh is a stand-in for GitHub's command gh: it keeps comments as files, and supports only the calls
// of the script.
const gh = `#!/bin/sh
echo "$*" >>"$COMMENTS/calls"
case "$*" in
"api --paginate repos/o/r/issues/7/comments"*) ! [ -e "$COMMENTS/42" ] || echo 42 ;;
"api --silent repos/o/r/issues/7/comments --field body=@"*) cp "${5#body=@}" "$COMMENTS/42" ;;
"api --silent --method PATCH repos/o/r/issues/comments/42 --field body=@"*) cp "${7#body=@}" "$COMMENTS/42" ;;
*) echo "unknown call: $*" >&2; exit 1 ;;
esac
`

// The script for CI posts one comment, edits it in the next run, and ends as windtunnel regress does.
func TestRegressInCI(t *testing.T) {
	nginxtest.Find(t, "http_lua")
	t.Parallel()
	work := t.TempDir()
	script, err := filepath.Abs(filepath.Join(repository, "examples/ci/regress"))
	if err != nil {
		t.Fatal(err)
	}
	comments, corpus := filepath.Join(work, "comments"), filepath.Join(work, "corpus")
	err = errors.Join(os.Mkdir(comments, 0o755), os.Mkdir(corpus, 0o755),
		os.WriteFile(filepath.Join(work, "gh"), []byte(gh), 0o755),
		os.WriteFile(filepath.Join(corpus, "one.yaml"), []byte(`apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec: {ingressClassName: nginx, rules: [{host: web.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
`), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	harness := built.Command(t, "windtunnel")
	run := func(head string, want int) (comment string) {
		t.Helper()
		command := exec.Command(script, "bundled", head, filepath.Join(work, "out"), "--corpus", corpus)
		command.Dir = work
		command.Env = append(os.Environ(), "WINDTUNNEL="+harness, "COMMENTS="+comments, "PATH="+work+":"+os.Getenv("PATH"),
			"GITHUB_REPOSITORY=o/r", "GH_TOKEN=secret", "PULL_REQUEST=7")
		output, err := command.CombinedOutput()
		if got := command.ProcessState.ExitCode(); got != want {
			t.Fatalf("exit code %d, want %d: %v\n%s", got, want, err, output)
		}
		text, err := os.ReadFile(filepath.Join(comments, "42"))
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		return string(text)
	}
	first := run("config.keep-alive=7", exitFailed)
	if !strings.HasPrefix(first, "<!-- windtunnel regress -->\n") || !strings.Contains(first, "keepalive_timeout") {
		t.Errorf("the comment is\n%s", first)
	}
	if _, err := os.Stat(filepath.Join(work, "out", "report", "index.html")); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Join(work, "out")); err != nil {
		t.Fatal(err)
	}
	if second := run("bundled", exitOK); strings.Contains(second, "keepalive_timeout") {
		t.Errorf("the comment is still\n%s", second)
	}
	calls, err := os.ReadFile(filepath.Join(comments, "calls"))
	if err != nil || strings.Count(string(calls), "PATCH") != 1 {
		t.Errorf("calls, %v:\n%s", err, calls)
	}
}
