package controller_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller"
)

// trials counts the nginx tests of the quarantine. Each test waits for a token.
type trials struct {
	*testing.T
	log, tokens string
}

// watched replaces nginx by a script that counts the tests of the quarantine. Only those use a file
// that ends in .try.
func watched(t *testing.T) (*trials, func(*controller.Config)) {
	folder := t.TempDir()
	w := &trials{T: t, log: filepath.Join(folder, "trials"), tokens: filepath.Join(folder, "tokens")}
	script := filepath.Join(folder, "nginx")
	return w, func(config *controller.Config) {
		program := *config.Nginx
		text := fmt.Sprintf(`#!/bin/sh
case "$*" in *.try*-t*)
	echo trial >> %s
	until rm %s/"$(ls %s | head -n 1)" 2> /dev/null; do sleep 0.01; done
esac
exec %s "$@"
`, w.log, w.tokens, w.tokens, program.Binary)
		for _, err := range []error{os.Mkdir(w.tokens, 0o755), os.WriteFile(script, []byte(text), 0o755)} {
			if err != nil {
				t.Error(err)
			}
		}
		program.Binary = script
		config.Nginx = &program
	}
}

// begun returns how many trials have begun.
func (w *trials) begun() int {
	text, err := os.ReadFile(w.log)
	if err != nil {
		return 0
	}
	return strings.Count(string(text), "trial")
}

func (w *trials) await(n int) {
	w.Helper()
	for end := time.Now().Add(limit); w.begun() < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("%d trials, want %d", w.begun(), n)
		}
	}
}

// let lets n trials begin.
func (w *trials) let(n int) {
	w.Helper()
	for range n {
		file, err := os.CreateTemp(w.tokens, "token")
		if err != nil {
			w.Fatal(err)
		}
		file.Close()
	}
}

// Endpoint changes do not wait for the search for rejected objects, and known rejected objects
// cause no tests while others change.
func TestPoisonChurn(t *testing.T) {
	t.Parallel()
	const poisons = 8
	w, count := watched(t)
	r := launchAs(t, true, count, snippets)
	r.awaitHost("web.example", "one")
	for i := range poisons {
		r.addIngress(withSnippet(fmt.Sprint("poison", i), "no_such_directive on;"))
	}
	// The search has begun. Its first trial waits for a token.
	w.await(1)
	r.move(pod(t, "127.88.0.2", "two"))
	w.let(1)
	r.awaitHost("web.example", "two")
	w.await(2)
	r.addIngress(withSnippet("beside", "")) // other ingresses do not wait either
	w.let(1)
	r.awaitHost("beside.example", "two")
	r.move(pod(t, "127.88.0.3", "three"))
	w.let(1)
	r.awaitHost("web.example", "three")
	if w.begun() > 5 {
		t.Errorf("%d trials after 3 tokens", w.begun())
	}
	if event := len(r.rejections()); event == poisons {
		t.Error("the search ended before the endpoint was served")
	}

	w.let(1000)
	r.until("all are rejected", func() bool { return len(r.rejections()) == poisons })
	for i := range poisons {
		r.awaitHost(fmt.Sprintf("poison%d.example", i), "503")
	}
	// Wait for the syncs that the last verdict has requested.
	r.move(pod(t, "127.88.0.4", "four"))
	r.awaitHost("web.example", "four")
	before := w.begun()
	for touch := range 5 {
		for i := range poisons {
			touched := withSnippet(fmt.Sprint("poison", i), "no_such_directive on;")
			touched.Labels = map[string]string{"touched": fmt.Sprint(touch)}
			touched.Annotations["example.com/touched"] = fmt.Sprint(touch)
			r.changeIngress(touched)
		}
		r.move(pod(t, fmt.Sprint("127.88.1.", touch+1), fmt.Sprint("touch ", touch)))
		r.awaitHost("web.example", fmt.Sprint("touch ", touch))
	}
	if got := w.begun(); got != before {
		t.Errorf("%d trials after touching ingresses that are known to be rejected", got-before)
	}
}

// rejections returns the ingresses with an Event about their rejection.
func (r *running) rejections() map[string]bool {
	r.Helper()
	events, err := r.client.CoreV1().Events("default").List(r.Context(), metav1.ListOptions{})
	r.must(err)
	rejected := make(map[string]bool)
	for _, event := range events.Items {
		if event.InvolvedObject.Kind == "Ingress" && event.Reason == "Refused" {
			rejected[event.InvolvedObject.Name] = true
		}
	}
	return rejected
}

func (r *running) until(what string, ok func() bool) {
	r.Helper()
	for end := time.Now().Add(limit); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("not within %v: %s", limit, what)
		}
	}
}
