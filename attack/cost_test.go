package attack_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/attack"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/internal/port"
)

// longest is the maximum length of a value in bytes: all annotations of an object have at most 256
// KiB together (apimachinery, TotalAnnotationSizeLimitB).
const longest = 256 << 10

// atItsEnds returns extreme values of a key: large numbers and sizes, the longest text and the
// longest lists.
func atItsEnds(key keyOf) []string {
	values := []string{"9999999999", "2147483647", "65535", "1000000", "999999999m", "1g", "-2147483648", strings.Repeat("a", longest)}
	for _, item := range append(samples[key.Name], "10.1.2.3/32", "a.example", "404", "X-A") {
		values = append(values, strings.Repeat(item+",", longest/(len(item)+1)), strings.Repeat(item, longest/len(item)))
	}
	var distinct strings.Builder
	for i := 0; distinct.Len() < longest-20; i++ {
		fmt.Fprintf(&distinct, "10.%d.%d.%d,", i>>16&255, i>>8&255, i&255)
	}
	return append(values, distinct.String())
}

// spent runs f. It returns the CPU time of its thread and the number of bytes that the process
// allocated.
func spent(t *testing.T, f func()) (cpu time.Duration, allocated uint64) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Rusage
	var was, is runtime.MemStats
	runtime.ReadMemStats(&was)
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &before); err != nil {
		t.Fatal(err)
	}
	f()
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &after); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&is)
	used := func(u unix.Rusage) time.Duration { return time.Duration(u.Utime.Nano() + u.Stime.Nano()) }
	return used(after) - used(before), is.TotalAlloc - was.TotalAlloc
}

// Limits for one ingress with one path. They are generous for slow machines: a plain ingress takes
// a millisecond and 0.5 MB.
const (
	mostCPU    = 2 * time.Second
	mostMemory = 256 << 20
	mostConf   = 2 << 20
)

// No value of a single annotation makes the model or nginx.conf expensive.
func TestExtremesAreCheapToRender(t *testing.T) {
	row := attack.Row{Target: "model and render", Attack: "extreme values of every annotation, with one path", Success: "more than 2 s of CPU, 256 MB allocated or 2 MB of nginx.conf"}
	for i, key := range keys {
		if !attack.Full() && i%16 != 0 {
			continue
		}
		for _, value := range atItsEnds(key) {
			c := ready()
			c.ingresses = append(c.ingresses, ingress("web", key.enabled(value)))
			var o outcome
			cpu, allocated := spent(t, func() { o, _ = stages(c, allModules()) })
			row.Tried++
			if cpu > mostCPU || allocated > mostMemory && !raced || o.state.Conf.Len() > mostConf {
				row.Landed++
				t.Errorf("%s: %s: %v of CPU, %d MB, nginx.conf of %d KB", key.Name, shortened(value), cpu, allocated>>20, o.state.Conf.Len()>>10)
			}
		}
	}
	attack.Report(t, row)
}

// Many paths, many hosts and long lists in one ingress stay within limits.
func TestManyPathsAreBounded(t *testing.T) {
	row := attack.Row{Target: "model and render", Attack: "10,000 paths, 10,000 hosts, lists for each of many paths, in one ingress", Success: "more than 64 MB of nginx.conf"}
	list := make([]string, 4000)
	for i := range list {
		list[i] = fmt.Sprintf("10.0.%d.%d", i>>8, i&255)
	}
	for name, change := range map[string]func(*networkingv1.Ingress){
		"paths": func(i *networkingv1.Ingress) { repeatPaths(i, 10_000) },
		"hosts": func(i *networkingv1.Ingress) {
			for n := range 10_000 {
				rule := i.Spec.Rules[0]
				rule.Host = fmt.Sprintf("h%d.example", n)
				i.Spec.Rules = append(i.Spec.Rules, rule)
			}
		},
		"lists": func(i *networkingv1.Ingress) {
			repeatPaths(i, attack.Times(400, 4000))
			i.Annotations["nginx.ingress.kubernetes.io/allowlist-source-range"] = strings.Join(list, ",")
			i.Annotations["nginx.ingress.kubernetes.io/denylist-source-range"] = strings.Join(list, ",")
		},
	} {
		one := ingress("web", nil)
		change(one)
		c := ready()
		c.ingresses = append(c.ingresses, one)
		o, err := stages(c, allModules())
		if err != nil {
			t.Fatal(err)
		}
		row.Tried++
		if o.state.Conf.Len() > 64<<20 || len(o.findings) == 0 {
			row.Landed++
			t.Errorf("%s: nginx.conf of %d MB, %d findings", name, o.state.Conf.Len()>>20, len(o.findings))
		}
	}
	attack.Report(t, row)
}

func repeatPaths(i *networkingv1.Ingress, n int) {
	rule := i.Spec.Rules[0].HTTP
	for k := range n {
		path := rule.Paths[0]
		path.Path = fmt.Sprintf("/p%d", k)
		rule.Paths = append(rule.Paths, path)
	}
}

// site is a running nginx with one worker.
type site struct {
	*testing.T
	http   int
	worker int
}

// serve starts nginx with a cluster whose service web is a server of this test.
func serve(t *testing.T, c *population) *site {
	t.Helper()
	j := newJudge(t)
	base, err := port.Free(5)
	if err != nil {
		t.Fatal(err)
	}
	ports := &j.input.Options.Ports
	ports.HTTP, ports.HTTPS, ports.Default, ports.Status, ports.Stream = base, base+1, base+2, base+3, base+4
	pod := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://"+strings.Repeat("a", 900)+"!")
		w.Header().Set("Set-Cookie", "a=b; Path=/"+strings.Repeat("a", 900)+"!; Domain="+strings.Repeat("a", 900)+"!")
	}))
	t.Cleanup(pod.Close)
	address := pod.Listener.Addr().(*net.TCPAddr)
	c.slices[0].Ports[0].Port = new(int32(address.Port))
	c.slices[0].Endpoints = []discoveryv1.Endpoint{{Addresses: []string{"127.0.0.1"}}}
	o, err := stages(c, j.input)
	if err != nil {
		t.Fatal(err)
	}
	j.install(t, o)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	process, err := j.Start(ctx, j.input.Options.Path("/etc/nginx/nginx.conf"), nginx.Stderr(t.Output()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = process.Quit(ctx) // ctx has ended, so nginx is terminated immediately: the test is over
	})
	answer, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/configuration/backends", ports.Status), "application/json", bytes.NewReader(o.state.Backends.Body()))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	workers, err := nginx.Workers(process.PID())
	if err != nil || len(workers) != 1 {
		t.Fatalf("workers %v, %v", workers, err)
	}
	s := &site{t, ports.HTTP, workers[0].PID}
	deadline := time.Now().Add(20 * time.Second)
	for tick := time.NewTicker(20 * time.Millisecond); s.ask("known.example", "/shop", nil) != http.StatusOK; <-tick.C {
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(j.input.Options.Path("/var/log/nginx/error.log"))
			t.Fatalf("Lua does not apply the backends: status %d, POST %s\n%s", s.ask("known.example", "/shop", nil), answer.Status, log[max(0, len(log)-3000):])
		}
	}
	return s
}

// ask sends a request and returns the status; 0 without a response.
func (s *site) ask(host, path string, header http.Header) int {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", s.http, path), nil)
	if err != nil {
		s.Fatal(err)
	}
	request.Host = host
	for name, values := range header {
		request.Header[name] = values
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

// busy returns the CPU time of the worker (schedstat in proc(5)).
func (s *site) busy() time.Duration {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", s.worker))
	if err != nil {
		s.Fatal(err)
	}
	nanoseconds, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
	if err != nil {
		s.Fatal(err)
	}
	return time.Duration(nanoseconds)
}

// memory returns the resident memory of the worker, in bytes (statm in proc(5)).
func (s *site) memory() int {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.worker))
	if err != nil {
		s.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		s.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// cost returns the CPU time of the worker for a request, and the status of the response. It repeats a
// request that took too long and returns the least time, because CPU time includes time that a
// hypervisor steals now and then.
func (s *site) cost(host, path string, header http.Header) (least time.Duration, status int) {
	for range 5 {
		was := s.busy()
		status = s.ask(host, path, header)
		used := s.busy() - was
		if least = min(used, cmp.Or(least, used)); least <= mostBusy {
			break
		}
	}
	return least, status
}

const (
	mostBusy  = 50 * time.Millisecond // CPU time of one request
	mostGrown = 300 << 20             // growth of the worker's memory by all requests, in bytes
)

// costly are regular expressions that cause excessive backtracking.
var costly = []string{
	`/(a+)+$`, `/(a|a)*$`, `/(a|aa)+$`, `/(.*)(.*)(.*)(.*)(.*)(.*)!!`, `/([a-z]+)*[0-9]`, `/(a*)*b`, `/((a*)*)*b`, `/.*.*.*.*.*.*.*b`, `/(a?){50}a{50}b`, `/(?:a{1,30}){1,30}b`, `/(x+x+)+y`, `/(?=(a+))\1*b`,
}

// No request to a host with an extreme annotation or a costly pattern keeps a worker busy.
func TestNoRequestKeepsAWorkerBusy(t *testing.T) {
	c := ready()
	c.ingresses = append(c.ingresses, ingress("known", nil))
	c.services = append(c.services, &corev1.Service{ObjectMeta: named("other"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}})
	other := *c.slices[0]
	other.Name, other.Labels = "other-1", map[string]string{discoveryv1.LabelServiceName: "other"}
	c.slices = append(c.slices, &other)
	var hosts, alsoAsked []string
	add := func(i *networkingv1.Ingress) {
		c.ingresses = append(c.ingresses, i)
		hosts = append(hosts, i.Spec.Rules[0].Host)
	}
	for i, key := range keys {
		if !attack.Full() && i%16 != 0 {
			continue
		}
		for n, value := range atItsEnds(key) {
			add(ingress(fmt.Sprintf("k%d-%d", i, n), key.enabled(value)))
		}
	}
	for n, pattern := range costly {
		given := map[string]string{"use-regex": "true"}
		if n%2 == 0 {
			given["rewrite-target"] = "/b$1"
		}
		one := ingress(fmt.Sprintf("p%d", n), given)
		pathOf(one).Path = pattern
		add(one)
		inner := strings.TrimPrefix(pattern, "/")
		add(ingress(fmt.Sprintf("r%d", n), map[string]string{"proxy-redirect-from": "~*http://" + inner, "proxy-redirect-to": "http://b"}))
		add(ingress(fmt.Sprintf("c%d", n), map[string]string{"proxy-cookie-path": "~*/" + inner + " /b", "proxy-cookie-domain": "~" + inner + " b"}))
		add(ingress(fmt.Sprintf("a%d", n), map[string]string{"server-alias": "~^" + inner}))
		host := fmt.Sprintf("h%d", n)
		add(ingress(host, nil))
		canary := ingress(host, map[string]string{"canary": "true", "canary-by-header": "X-Canary", "canary-by-header-pattern": inner})
		canary.Name = host + "-canary"
		pathOf(canary).Backend.Service.Name = "other"
		c.ingresses = append(c.ingresses, canary)
	}
	alsoAsked = append(alsoAsked, strings.Repeat("a", 3000)+".invalid")
	s := serve(t, c)
	row := attack.Row{Target: "nginx worker", Attack: "requests to hosts with an extreme annotation or a costly pattern", Success: "more than 50 ms of CPU for one request, or 300 MB"}
	before := s.memory()
	long := "/shop" + strings.Repeat("a", 3000) + "!"
	for _, host := range append(hosts, alsoAsked...) {
		for _, path := range []string{"/shop", "/" + long, "/" + strings.Repeat("a", 3000) + "!", "/" + strings.Repeat("a", 30) + "!"} {
			header := http.Header{"Cookie": {"INGRESSCOOKIE=" + strings.Repeat("x", 200) + "; a=b"}, "X-Canary": {strings.Repeat("a", 3000) + "!"}, "Origin": {"https://" + strings.Repeat("a", 500)}}
			used, status := s.cost(host, path, header)
			row.Tried++
			if used > mostBusy {
				row.Landed++
				t.Errorf("%s %s: %v of CPU, status %d\n%s", shortened(host), shortened(path), used, status, annotationsOf(c, host))
			}
		}
	}
	if grown := s.memory() - before; grown > mostGrown {
		row.Landed++
		t.Errorf("the worker's memory grew by %d MB", grown>>20)
	}
	attack.Report(t, row)
}

func annotationsOf(c *population, host string) string {
	for _, i := range c.ingresses {
		if i.Spec.Rules[0].Host == host {
			return described(i)
		}
	}
	return ""
}
