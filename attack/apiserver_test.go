package attack_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/attack"
	"windtunnel.dev/sim/kubeapi"
)

const apiServer = "API server"

// victim is a simulated API server with one object of each attacked kind.
type victim struct {
	*testing.T
	server *kubeapi.Server
	token  string
	panics atomic.Int64
}

const (
	configMaps  = "/api/v1/namespaces/default/configmaps"
	apiServices = "/api/v1/namespaces/default/services"
	widgets     = "/apis/example.com/v1/namespaces/default/widgets"
	asJSON      = "application/json"
)

func newVictim(t *testing.T) *victim {
	v := &victim{T: t}
	counting := slog.New(slog.NewTextHandler(writer(func([]byte) { v.panics.Add(1) }), nil))
	server, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Log: counting})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		server.Close(ctx) // an error means that attackers' connections are still open
	})
	v.server, v.token = server, server.Config().BearerToken
	v.make("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`)
	v.make(configMaps, `{"metadata":{"name":"a","finalizers":["example.com/a"],"labels":{"a":"b"}},"data":{"k":"v"}}`)
	v.make(apiServices, `{"metadata":{"name":"a"},"spec":{"ports":[{"port":1}]}}`)
	v.make(widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"list":[null,1,{"a":null}],"free":{}}}`)
	return v
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}

func (v *victim) make(path, body string) {
	v.Helper()
	if code, answer := v.send("POST", path, asJSON, body); code != http.StatusCreated {
		v.Fatalf("%s: %d %s", path, code, answer)
	}
}

// send sends a request with the token.
func (v *victim) send(method, path, contentType, body string) (int, string) {
	v.Helper()
	req, err := http.NewRequestWithContext(v.Context(), method, v.server.URL()+path, strings.NewReader(body))
	if err != nil {
		v.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Authorization", "Bearer "+v.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(answer)
}

// dial opens a TCP connection with a deadline.
func (v *victim) dial(patience time.Duration) net.Conn {
	v.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(v.server.URL(), "http://"))
	if err != nil {
		v.Fatal(err)
	}
	v.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	return conn
}

// await waits up to ten seconds for a condition, and returns whether it is true.
func await(is func() bool) bool {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); runtime.Gosched() {
		if is() {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return is()
}

func held() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// spentSoFar returns the CPU time of this process, which includes the server.
func spentSoFar(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

const (
	jsonPatch = "application/json-patch+json"
	merge     = "application/merge-patch+json"
	strategic = "application/strategic-merge-patch+json"
	applied   = "application/apply-patch+yaml"
)

// extremePatches returns patches with the maximum depth, width and repetition that fit into a body,
// and aliases that multiply: path, content type and body, by name.
func extremePatches() map[string][3]string {
	deep := func(n int, open, closed string) string {
		return strings.Repeat(open, n) + "1" + strings.Repeat(closed, n)
	}
	many := func(n int, element string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'j'; c++ {
		bomb += fmt.Sprintf("%c: &%[1]c [%s]\n", c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 10), ","))
	}
	head := "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n"
	return map[string][3]string{
		"deep merge":            {widgets, merge, deep(9000, `{"spec":`, "}")},
		"deeper merge":          {widgets, merge, deep(300_000, `{"a":`, "}")},
		"deep and long merge":   {widgets, merge, strings.Repeat(`{"a":`, 400) + `"` + strings.Repeat("x", 2<<20) + `"` + strings.Repeat("}", 400)},
		"deep strategic":        {apiServices, strategic, deep(9000, `{"spec":`, "}")},
		"wide strategic":        {apiServices, strategic, `{"spec":{"ports":` + many(200_000, `{"port":9}`) + `}}`},
		"wide order":            {apiServices, strategic, `{"spec":{"$setElementOrder/ports":` + many(200_000, `{"port":9}`) + `}}`},
		"wide removal":          {configMaps, strategic, `{"metadata":{"$deleteFromPrimitiveList/finalizers":` + many(500_000, `"x"`) + `}}`},
		"deep value":            {widgets, jsonPatch, `[{"op":"add","path":"/spec","value":` + deep(9000, `{"a":`, "}") + `}]`},
		"many operations":       {widgets, jsonPatch, many(attack.Times(20_000, 60_000), `{"op":"test","path":"/spec","value":1}`)},
		"copies":                {widgets, jsonPatch, many(attack.Times(1_000, 10_000), `{"op":"copy","from":"/spec","path":"/spec/free"}`)},
		"long path":             {widgets, jsonPatch, `[{"op":"add","path":"` + strings.Repeat("/a", 1_000_000) + `","value":1}]`},
		"inserts at the front":  {widgets, jsonPatch, many(attack.Times(3_000, 10_000), `{"op":"add","path":"/spec/list/0","value":1}`)},
		"deep apply":            {widgets, applied, head + "spec: " + deep(9000, "{a: ", "}")},
		"deep list apply":       {widgets, applied, head + "spec: " + deep(9000, "[", "]")},
		"aliases":               {widgets, applied, head + bomb},
		"an alias of itself":    {widgets, applied, head + "spec: &a {a: *a}"},
		"merge keys":            {widgets, applied, head + "spec: &a {<<: *a}"},
		"a large apply":         {widgets, applied, head + "data: {" + strings.Repeat("a: b, ", attack.Times(20_000, 50_000)) + "}"},
		"many anchors":          {widgets, applied, head + "spec: [" + strings.Repeat("&a x, *a, ", attack.Times(15_000, 100_000)) + "]"},
		"strategic of a widget": {widgets, strategic, `{}`},
	}
}

// randomPatch returns a patch with directives in wrong places.
func randomPatch(rng *rand.Rand) (path, contentType, body string) {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	var value func(depth int) string
	value = func(depth int) string {
		if depth == 0 || rng.IntN(4) == 0 {
			return pick("null", "1", `"a"`, "true", "[]", "{}", "[null]", "[[]]", `[{}]`, `[1,"a"]`, `""`, "1e999", `"replace"`, `"delete"`, `"merge"`)
		}
		keys := func() string {
			return pick("metadata", "spec", "data", "ports", "port", "name", "finalizers", "labels", "ownerReferences", "uid", "selector", "list", "free", "type", "",
				"$patch", "$retainKeys", "$setElementOrder/ports", "$setElementOrder/finalizers", "$deleteFromPrimitiveList/finalizers", "$setElementOrder/", "$setElementOrder/spec", "$deleteFromPrimitiveList/ports")
		}
		var b strings.Builder
		if rng.IntN(3) == 0 {
			for range rng.IntN(3) {
				b.WriteString(value(depth-1) + ",")
			}
			return "[" + strings.TrimSuffix(b.String(), ",") + "]"
		}
		for range 1 + rng.IntN(3) {
			fmt.Fprintf(&b, "%q:%s,", keys(), value(depth-1))
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	path = pick(configMaps, apiServices, widgets, widgets)
	switch rng.IntN(4) {
	case 0:
		var operations []string
		for range 1 + rng.IntN(4) {
			where := func() string {
				return pick("", "/", "/metadata/finalizers", "/metadata/finalizers/0", "/metadata/finalizers/-", "/metadata/finalizers/-1", "/spec", "/spec/list", "/spec/list/0", "/spec/list/2/a", "/spec/list/99999999999", "/data/k", "/spec/ports/0", "/metadata/labels/~2", "/kind", "//", "/spec//")
			}
			operations = append(operations, fmt.Sprintf(`{"op":%q,"path":%q,"from":%q,"value":%s}`, pick("add", "remove", "replace", "move", "copy", "test", "test", "", "x"), where(), where(), value(3)))
		}
		return path, jsonPatch, "[" + strings.Join(operations, ",") + "]"
	case 1:
		return path, merge, value(5)
	case 2:
		return path, applied, value(5)
	}
	return path, strategic, `{` + fmt.Sprintf(`%q:%s,%q:%s`, pick("spec", "metadata", "$patch", "$retainKeys"), value(4), pick("spec", "metadata", "data"), value(4)) + `}`
}

func TestAPIServerAgainstPatches(t *testing.T) {
	v := newVictim(t)
	tried, landed := 0, 0
	var slowest time.Duration
	var note string
	try := func(path, contentType, body string) {
		tried++
		began := spentSoFar(t)
		query := ""
		if contentType == applied {
			query = "?fieldManager=attack"
		}
		code, answer := v.send("PATCH", path+"/a"+query, contentType, body)
		took := spentSoFar(t) - began
		slowest = max(slowest, took)
		if took > 500*time.Millisecond {
			t.Logf("%v, %d: %s %.100s", took, code, contentType, body)
		}
		// kube-apiserver itself returns 500 if it cannot convert managed fields to typed values.
		if code == 0 || code >= 500 && !strings.Contains(answer, "failed to create typed patch object") || took > 10*time.Second {
			landed++
			t.Errorf("%s as %s: %.300s: %d %.300s after %v", path, contentType, body, code, answer, took)
		}
	}
	for name, patch := range extremePatches() {
		before := slowest
		try(patch[0], patch[1], patch[2])
		if slowest > before {
			note = fmt.Sprintf("slowest: %s, %v", name, slowest.Round(time.Millisecond))
		}
	}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Log("seed ", seed)
	for range attack.Times(100, 300_000) {
		try(randomPatch(rng))
	}
	if code, answer := v.send("GET", configMaps, asJSON, ""); code != http.StatusOK {
		t.Errorf("afterwards: %d %s", code, answer)
	}
	attack.Report(t, attack.Row{Target: apiServer, Attack: "hostile patches", Tried: tried, Landed: landed,
		Success: "a 5xx, a lost connection, or more than 10 s of CPU time", Note: fmt.Sprintf("%s; %d panics of libraries were logged and answered with a 4xx", note, v.panics.Load())})
}

// Unauthorized clients try every verb on every style of path.
func TestAPIServerAgainstUnauthorizedClients(t *testing.T) {
	v := newVictim(t)
	before := fmt.Sprint(v.server.Holds())
	tried, landed := 0, 0
	paths := []string{"/", "/api", "/apis", "/api/v1", "/version", "/openapi/v3", configMaps, configMaps + "/a", configMaps + "/a?dryRun=All", configMaps + "/a/status", configMaps + "?watch=1",
		"/api/v1/namespaces", "/api/v1/namespaces/default", "/api/v1/secrets", "/api/v1/namespaces/default/pods/a/exec?command=sh", widgets, "/apis/none/v1/x",
		"/apis/authentication.k8s.io/v1/tokenreviews", "/healthz/../api/v1/secrets", "/readyz/..%2fapi/v1/secrets", "//api/v1/secrets", "/api/v1/%73ecrets", "/livez/./../api/v1/secrets", "/api/v1/secrets;/healthz", "/HEALTHZ/api/v1/secrets"}
	heads := map[string]string{
		"no token":       "Host: localhost\r\n",
		"a wrong token":  "Host: localhost\r\nAuthorization: Bearer " + strings.Repeat("A", len(v.token)) + "\r\n",
		"half a token":   "Host: localhost\r\nAuthorization: Bearer " + v.token[:len(v.token)/2] + "\r\n",
		"no scheme":      "Host: localhost\r\nAuthorization: " + v.token + "\r\n",
		"basic":          "Host: localhost\r\nAuthorization: Basic " + v.token + "\r\n",
		"two tokens":     "Host: localhost\r\nAuthorization: Bearer x\r\nAuthorization: Bearer " + v.token + "\r\n",
		"front proxy":    "Host: localhost\r\nX-Remote-User: admin\r\nX-Remote-Group: system:masters\r\n",
		"impersonation":  "Host: localhost\r\nImpersonate-User: admin\r\nImpersonate-Group: system:masters\r\n",
		"a foreign Host": "Host: evil.example\r\nAuthorization: Bearer " + v.token + "\r\n",
		"a bound Host":   "Host: localhost.evil.example\r\nAuthorization: Bearer " + v.token + "\r\n",
		"a web page":     "Host: localhost\r\nOrigin: http://evil.example\r\nSec-Fetch-Mode: no-cors\r\nCookie: token=" + v.token + "\r\n",
	}
	types := []string{"", "Content-Type: application/json\r\n", "Content-Type: text/plain\r\n", "Content-Type: application/vnd.kubernetes.protobuf\r\n"}
	if !attack.Full() {
		types = types[:2]
	}
	for who, head := range heads {
		for _, path := range paths {
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "get", "X"} {
				for _, contentType := range types {
					if method == "CONNECT" {
						path = "localhost:1"
					}
					tried++
					body := `{"metadata":{"name":"b"}}`
					conn := v.dial(10 * time.Second)
					fmt.Fprintf(conn, "%s %s HTTP/1.1\r\n%s%sConnection: close\r\nContent-Length: %d\r\n\r\n%s", method, path, head, contentType, len(body), body)
					answer, _ := io.ReadAll(conn)
					conn.Close()
					status, _, _ := bytes.Cut(answer, []byte("\r\n"))
					if len(status) < 12 || status[9] != '4' {
						landed++
						t.Errorf("%s: %s %s: %q", who, method, path, status)
					}
				}
			}
		}
	}
	if after := fmt.Sprint(v.server.Holds()); after != before {
		landed++
		t.Errorf("the objects were %s, now %s", before, after)
	}
	attack.Report(t, attack.Row{Target: apiServer, Attack: "unauthorized clients: tokens, hosts, verbs, paths, content types", Tried: tried, Landed: landed, Success: "a response other than 4xx, or a new or missing object"})
}

// An encoded or unclean path is not treated as the path in its plain form, even with the token.
func TestAPIServerAgainstPaths(t *testing.T) {
	v := newVictim(t)
	tried, landed := 0, 0
	parts := []string{"//", "/./", "/../", "/%2e%2e/", "/%2E/", "%2f", "%2F", "/..%2f", "%2f..%2f", "/;/../", "/%2e%2e%2f"}
	for _, where := range []string{configMaps + "/a", "/api/v1/namespaces/kube-public", widgets + "/a"} {
		for i := range where {
			if where[i] != '/' {
				continue
			}
			for _, part := range parts {
				for _, method := range []string{"GET", "PUT", "DELETE", "POST", "PATCH"} {
					tried++
					path := where[:i] + part + where[i+1:]
					conn := v.dial(10 * time.Second)
					fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", method, path, v.token)
					answer, _ := io.ReadAll(conn)
					conn.Close()
					if !bytes.HasPrefix(answer, []byte("HTTP/1.1 4")) {
						landed++
						t.Errorf("%s %s: %.100q", method, path, answer)
					}
				}
			}
		}
	}
	attack.Report(t, attack.Row{Target: apiServer, Attack: "encoded and unclean paths", Tried: tried, Landed: landed, Success: "a response other than 4xx"})
}

// Clients that send slowly do not delay others. A full run waits until the server closes their
// connections.
func TestAPIServerAgainstSlowClients(t *testing.T) {
	v := newVictim(t)
	slow := []string{
		"POST " + configMaps + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + v.token + "\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{",
		"PATCH " + configMaps + "/a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + v.token + "\r\nContent-Type: application/merge-patch+json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
		"POST " + configMaps + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{",
		"GET /api HTTP/1.1\r\nHost: localhost\r\nX-",
		"",
	}
	var conns []net.Conn
	for i := range attack.Times(200, 2000) {
		conn := v.dial(2 * time.Minute)
		io.WriteString(conn, slow[i%len(slow)])
		conns = append(conns, conn)
	}
	landed := 0
	for range 20 {
		began := time.Now()
		if code, answer := v.send("GET", configMaps+"/a", asJSON, ""); code != http.StatusOK || time.Since(began) > 5*time.Second {
			landed++
			t.Errorf("another client: %d %s after %v", code, answer, time.Since(began))
		}
	}
	success := "another client waits for more than 5 s"
	if attack.Full() {
		success += ", or a connection lives for more than 2 minutes"
		for i, conn := range conns {
			if _, err := io.Copy(io.Discard, conn); err != nil {
				landed++
				t.Errorf("slow client %d: %v", i%len(slow), err)
			}
		}
	}
	attack.Report(t, attack.Row{Target: apiServer, Attack: "slow headers and bodies", Tried: len(conns), Landed: landed, Success: success})
}

// Thousands of watches that are opened, not read and dropped leave no goroutines or memory.
func TestAPIServerAgainstDroppedWatches(t *testing.T) {
	v := newVictim(t)
	for i := range 100 {
		v.make(configMaps, fmt.Sprintf(`{"metadata":{"name":"large-%d"},"data":{"k":"%s"}}`, i, strings.Repeat("x", 10<<10)))
	}
	runtime.GC()
	goroutines, memory := runtime.NumGoroutine(), held()
	n, landed := attack.Times(600, 9000), 0
	var conns []net.Conn
	for range n {
		conn := v.dial(5 * time.Minute)
		fmt.Fprintf(conn, "GET %s?watch=1&resourceVersion=0&allowWatchBookmarks=true HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", configMaps, v.token)
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	runtime.GC()
	each := (held() - memory) / int64(n)
	if each > 512<<10 {
		landed++
		t.Errorf("each watch uses %d KiB", each>>10)
	}
	for _, conn := range conns {
		conn.Close()
	}
	if !await(func() bool { return runtime.NumGoroutine() <= goroutines+10 }) {
		landed++
		t.Errorf("%d goroutines remain of %d watches", runtime.NumGoroutine()-goroutines, n)
	}
	if !await(func() bool { return held() <= memory+32<<20 }) {
		landed++
		t.Errorf("%d MiB remain of %d watches", (held()-memory)>>20, n)
	}
	attack.Report(t, attack.Row{Target: apiServer, Attack: "dropped watches", Tried: n, Landed: landed, Success: "goroutines or more than 32 MiB remain after 10 s, or each uses 512 KiB",
		Note: fmt.Sprintf("%d KiB each", each>>10)})
}

// A list whose client does not read uses little more memory than one object.
func TestAPIServerAgainstHugeLists(t *testing.T) {
	v := newVictim(t)
	for i := range 15 {
		v.make(configMaps, fmt.Sprintf(`{"metadata":{"name":"huge-%d"},"data":{"k":"%s"}}`, i, strings.Repeat("x", 900<<10)))
	}
	runtime.GC()
	memory, n, landed := held(), attack.Times(5, 500), 0
	for _, query := range []string{"", "?limit=1&continue=x", "?limit=99999999999999999999", "?limit=-1", "?fieldSelector=" + strings.Repeat("metadata.name!%3Da,", 1000) + "metadata.name!%3Da"} {
		began := time.Now()
		if code, answer := v.send("GET", configMaps+query, asJSON, ""); code == 0 || code >= 500 || time.Since(began) > 10*time.Second {
			landed++
			t.Errorf("%.60s: %d %.200s after %v", query, code, answer, time.Since(began))
		}
	}
	for range n {
		conn := v.dial(time.Minute)
		conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", configMaps, v.token)
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	each := (held() - memory) / int64(n)
	if each > 8<<20 {
		landed++
		t.Errorf("each list that is not read uses %d KiB", each>>10)
	}
	attack.Report(t, attack.Row{Target: apiServer, Attack: "huge lists", Tried: n + 5, Landed: landed, Success: "a 5xx, more than 10 s, or 8 MiB used by a list of 13 MiB whose client does not read", Note: fmt.Sprintf("%d KiB each", each>>10)})
}

// Concurrent floods of headers are rejected.
func TestAPIServerAgainstHeaders(t *testing.T) {
	v := newVictim(t)
	floods := []string{
		"X: " + strings.Repeat("x", 2<<20) + "\r\n",
		strings.Repeat("X: x\r\n", 400_000),
		strings.Repeat("Authorization: Bearer x\r\n", 80_000),
		"Accept: " + strings.Repeat("application/x,", 140_000) + "\r\n",
		"Content-Length: 1\r\nContent-Length: 2\r\n",
		"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
		"X\x00: a\r\n", "Host: other\r\n", "Transfer-Encoding: x\r\n",
	}
	n := attack.Times(3, 100) * len(floods)
	var landed atomic.Int64
	var sending sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range n {
		slots <- struct{}{}
		sending.Go(func() {
			defer func() { <-slots }()
			conn, err := net.Dial("tcp", strings.TrimPrefix(v.server.URL(), "http://"))
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(30 * time.Second))
			fmt.Fprintf(conn, "GET /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\n%s\r\n", floods[i%len(floods)])
			conn.(*net.TCPConn).CloseWrite()                     // otherwise the server waits for the body that a flood announces
			answer, _ := io.ReadAll(io.LimitReader(conn, 1<<10)) // the server may have closed the connection early
			if bytes.HasPrefix(answer, []byte("HTTP/1.1 2")) || bytes.HasPrefix(answer, []byte("HTTP/1.1 5")) && !bytes.HasPrefix(answer, []byte("HTTP/1.1 501")) {
				landed.Add(1)
				t.Errorf("flood %d: %.100q", i%len(floods), answer)
			}
		})
	}
	sending.Wait()
	if code, answer := v.send("GET", configMaps+"/a", asJSON, ""); code != http.StatusOK {
		landed.Add(1)
		t.Errorf("afterwards: %d %s", code, answer)
	}
	attack.Report(t, attack.Row{Target: apiServer, Attack: "header floods", Tried: n, Landed: int(landed.Load()), Success: "a 2xx or a 5xx other than 501, or no response to others afterwards"})
}
