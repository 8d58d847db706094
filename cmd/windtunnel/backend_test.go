package main

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/backend/pool"
)

// inBackground runs a command until interrupt is called. ended delivers the exit code.
func inBackground(t *testing.T, args ...string) (interrupt func(), ended <-chan int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	code := make(chan int, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		code <- Main(ctx, args, t.Output(), t.Output())
	}()
	t.Cleanup(func() { cancel(); <-done })
	return cancel, code
}

// until sends requests, each over a new connection, until the response is as wanted.
func until(t *testing.T, what, url string, ok func(*http.Response, error) bool) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		response, err := client.Get(url)
		if err == nil {
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
		if ok(response, err) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: want %s; last response %+v, %v", url, what, response, err)
		}
	}
}

// A pod reports its name, keeps serving after it is asked to end, and exits with success.
func TestBackend(t *testing.T) {
	free, err := port.Free(2)
	if err != nil {
		t.Fatal(err)
	}
	at := "127.0.0.1:" + strconv.Itoa(free)
	t.Setenv("POD_NAME", "web-1")
	t.Setenv("POD_NAMESPACE", "shop")
	t.Setenv("SERVICE", "web")
	interrupt, ended := inBackground(t, "backend", "--address", at, "--stream-port", strconv.Itoa(free+1), "--drain", "1s")
	is := func(state backend.State) func(*http.Response, error) bool {
		return func(r *http.Response, err error) bool {
			return err == nil && r.StatusCode == 200 && backend.IdentityOf(r.Header) == backend.Identity{
				Pod: "shop/web-1", Service: "shop/web", State: state, Body: backend.IdentityOf(r.Header).Body,
			}
		}
	}
	until(t, "ready", "http://"+at+"/healthz", is(backend.Ready))
	interrupt()
	until(t, "terminating", "http://"+at, is(backend.Terminating))
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// With a control API, the backend is healthy before it runs any pod, and ends when asked to.
func TestBackendControlled(t *testing.T) {
	free, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SERVICE", "")
	t.Setenv(pool.TokenVariable, "secret")
	at := "127.0.0.1:" + strconv.Itoa(free)
	interrupt, ended := inBackground(t, "backend", "--control", at)
	until(t, "healthy", "http://"+at+"/healthz", func(r *http.Response, err error) bool { return err == nil && r.StatusCode == 200 })
	for token, want := range map[string]int{"": http.StatusForbidden, "secret": http.StatusBadRequest} {
		request, err := http.NewRequest(http.MethodPost, "http://"+at+"/pod/claim", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(pool.TokenHeader, token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("with the token %q: %s", token, response.Status)
		}
	}
	interrupt()
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}
