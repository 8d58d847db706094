package compile_test

import (
	"fmt"
	"iter"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/internal/pki"
)

// sizes are the numbers of ingresses in the benchmarks. Each has a service with ten endpoints.
var sizes = []int{100, 1000, 5000, 20000}

func large(n int) population {
	whole := populate(n)
	whole.slices = nil
	for i, service := range whole.services {
		slice := &discoveryv1.EndpointSlice{
			AddressType: discoveryv1.AddressTypeIPv4,
			Ports:       []discoveryv1.EndpointPort{{Port: new(int32(8080)), Protocol: new(corev1.ProtocolTCP)}},
		}
		slice.Namespace, slice.Name = service.Namespace, service.Name+"-x"
		slice.Labels = map[string]string{discoveryv1.LabelServiceName: service.Name}
		for pod := range 10 {
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{fmt.Sprintf("10.%d.%d.%d", i/256, i%256, pod)}})
		}
		whole.slices = append(whole.slices, slice)
	}
	return whole
}

// move changes the address of a service's first pod, in a new slice.
func (p population) move(service, step int) *discoveryv1.EndpointSlice {
	slice := p.slices[service].DeepCopy()
	slice.Endpoints[0].Addresses[0] = fmt.Sprintf("11.%d.%d.%d", step>>16&255, step>>8&255, step&255)
	p.slices[service] = slice
	return slice
}

// ledger returns a Ledger with the population.
func (p population) ledger() *snapshot.Ledger {
	ledger := snapshot.NewLedger()
	for _, service := range p.services {
		ledger.Put(service)
	}
	for _, slice := range p.slices {
		ledger.Put(slice)
	}
	for _, ingress := range p.ingresses {
		ledger.Put(ingress)
	}
	for _, secret := range p.secrets {
		ledger.Put(secret)
	}
	return ledger
}

// pipeline runs the stages that turn a change into steps for nginx.
type pipeline struct {
	compiler compile.Compiler
	running  plan.State
}

func (p *pipeline) sync(b *testing.B, cluster *snapshot.Ledger, opts parsed) []plan.Step {
	b.Helper()
	compiled, err := p.compiler.Compile(cluster.Snapshot(), compile.Input{Input: input(opts.Options)})
	if err != nil {
		b.Fatal(err)
	}
	steps := plan.Diff(p.running, compiled.State)
	if len(steps) > 0 {
		p.running = steps[len(steps)-1].Next
	}
	return steps
}

// BenchmarkEndpointChange measures a change of one endpoint, up to the step that posts it, with its
// reason. With --backends-delta the step includes the body, which occasionally contains all
// backends.
func BenchmarkEndpointChange(b *testing.B) {
	for _, n := range sizes {
		for _, delta := range []bool{false, true} {
			b.Run(fmt.Sprintf("ingresses=%d/delta=%t", n, delta), func(b *testing.B) { benchmarkEndpointChange(b, large(n), n, delta) })
		}
	}
	for name, whole := range alike() {
		b.Run(name, func(b *testing.B) { benchmarkEndpointChange(b, whole(), 1, true) })
	}
}

// benchmarkEndpointChange changes the endpoints of the first n services in turn.
func benchmarkEndpointChange(b *testing.B, whole population, n int, delta bool) {
	b.Helper()
	opts := parse(flags{}, nil)
	opts.BackendsDelta = delta
	cluster := whole.ledger()
	var p pipeline
	p.sync(b, cluster, opts)
	b.ReportAllocs()
	defer report(b, processor(b))
	step, sent := 0, 0
	for b.Loop() {
		step++
		cluster.Put(whole.move(step%n, step))
		steps := p.sync(b, cluster, opts)
		if len(steps) != 1 || steps[0].Kind != plan.PostBackends {
			b.Fatalf("step %d: %s", step, describe(steps))
		}
		if steps[0].Delta == nil && delta { // the deltas exceed half of all bytes
			sent += steps[0].Next.Backends.Size()
		}
		sent += len(steps[0].Delta)
	}
	if delta {
		b.ReportMetric(float64(sent)/float64(b.N), "B-sent/op")
	}
}

// BenchmarkPost measures the additional cost of a change of one endpoint if all backends are sent:
// the body of that POST.
func BenchmarkPost(b *testing.B) {
	opts := parse(flags{}, nil)
	for _, n := range sizes {
		b.Run(fmt.Sprintf("ingresses=%d", n), func(b *testing.B) {
			var p pipeline
			p.sync(b, large(n).ledger(), opts)
			b.ReportAllocs()
			defer report(b, processor(b))
			sent := 0
			for b.Loop() {
				sent = len(p.running.Backends.Body())
			}
			b.ReportMetric(float64(sent), "B-sent")
		})
	}
}

// BenchmarkFirstSync measures a first sync, and the memory per ingress afterwards. Ingresses have
// no annotations, one of forty sets of them, or a common property.
func BenchmarkFirstSync(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("ingresses=%d", n), func(b *testing.B) { benchmarkFirstSync(b, large(n)) })
	}
	b.Run("sets=40", func(b *testing.B) {
		whole := large(5000)
		for i, ingress := range whole.ingresses {
			ingress.Annotations = annotationsOf(i * 7919 % 40)
		}
		benchmarkFirstSync(b, whole)
	})
	for name, whole := range alike() {
		b.Run(name, func(b *testing.B) { benchmarkFirstSync(b, whole()) })
	}
}

// alike yields populations of 5,000 ingresses with a common property.
func alike() iter.Seq2[string, func() population] {
	each := func(change func(*networkingv1.Ingress)) func() population {
		return func() population {
			whole := large(5000)
			for _, ingress := range whole.ingresses {
				change(ingress)
			}
			return whole
		}
	}
	annotated := func(pairs ...string) func() population {
		return each(func(ingress *networkingv1.Ingress) {
			ingress.Annotations = make(map[string]string)
			for pair := range slices.Chunk(pairs, 2) {
				ingress.Annotations[annotations.DefaultPrefix+"/"+pair[0]] = pair[1]
			}
		})
	}
	return func(yield func(string, func() population) bool) {
		_ = yield("external-auth", annotated(
			"auth-url", "https://auth.example/oauth2/auth",
			"auth-signin", "https://auth.example/oauth2/start?rd=$escaped_request_uri",
		)) &&
			yield("default-backend", annotated("default-backend", "svc-0000", "custom-http-errors", "404,503")) &&
			yield("one-service", each(func(ingress *networkingv1.Ingress) {
				ingress.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Name = "svc-0000"
			})) &&
			yield("one-host", each(func(ingress *networkingv1.Ingress) {
				ingress.Spec.Rules[0].Host = "demo.example"
				ingress.Spec.Rules[0].HTTP.Paths[0].Path = "/" + ingress.Name
			})) &&
			yield("passwords", func() population {
				return withSecrets(corev1.SecretTypeOpaque, map[string][]byte{"auth": []byte("user:$apr1$salt$hash\n")}, func(ingress *networkingv1.Ingress) {
					ingress.Annotations = map[string]string{annotations.DefaultPrefix + "/auth-type": "basic", annotations.DefaultPrefix + "/auth-secret": ingress.Name}
				})
			}) &&
			yield("certificates", certified)
	}
}

// certified returns a population of 5,000 ingresses with a certificate each.
func certified() population {
	pair := pki.New("benchmark").Issue("demo.example", []string{"*.demo.example"})
	return withSecrets(corev1.SecretTypeTLS, map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key}, func(ingress *networkingv1.Ingress) {
		ingress.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{ingress.Spec.Rules[0].Host}, SecretName: ingress.Name}}
	})
}

// withSecrets returns a population of 5,000 ingresses that use a Secret each.
func withSecrets(of corev1.SecretType, data map[string][]byte, use func(*networkingv1.Ingress)) population {
	whole := large(5000)
	for _, ingress := range whole.ingresses {
		use(ingress)
		secret := &corev1.Secret{Type: of, Data: data}
		secret.Namespace, secret.Name = ingress.Namespace, ingress.Name
		whole.secrets = append(whole.secrets, secret)
	}
	return whole
}

// annotationsOf returns one of forty sets of annotations that many ingresses have.
func annotationsOf(set int) map[string]string {
	made := map[string]string{"proxy-body-size": fmt.Sprintf("%dm", 1+set%10), "proxy-read-timeout": fmt.Sprint(30 + 30*(set/10))}
	switch set % 4 {
	case 1:
		made["enable-cors"], made["cors-allow-origin"] = "true", "https://*.example"
	case 2:
		made["rewrite-target"], made["ssl-redirect"] = "/", "false"
	case 3:
		made["whitelist-source-range"], made["affinity"] = "10.0.0.0/8", "cookie"
	}
	prefixed := make(map[string]string, len(made))
	for name, value := range made {
		prefixed[annotations.DefaultPrefix+"/"+name] = value
	}
	return prefixed
}

func benchmarkFirstSync(b *testing.B, whole population) {
	b.Helper()
	opts := parse(flags{}, nil)
	b.ReportAllocs()
	var kept uint64
	var p pipeline
	for b.Loop() {
		b.StopTimer()
		p = pipeline{}
		cluster := whole.ledger()
		before := inUse()
		b.StartTimer()
		p.sync(b, cluster, opts)
		b.StopTimer()
		kept = inUse() - before
		b.StartTimer()
	}
	b.ReportMetric(float64(kept)/float64(len(whole.ingresses)), "B-kept/ingress")
	runtime.KeepAlive(p)
}

// processor returns the CPU time that this process has used. Other processes' load affects it less
// than wall-clock time.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func report(b *testing.B, since time.Duration) {
	b.Helper()
	b.ReportMetric(float64((processor(b)-since).Microseconds())/float64(b.N), "cpu-µs/op")
}

func inUse() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// BenchmarkIngressChange measures a change of one ingress, up to the reload.
func BenchmarkIngressChange(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("ingresses=%d", n), func(b *testing.B) { benchmarkIngressChange(b, large(n)) })
	}
	for name, whole := range alike() {
		b.Run(name, func(b *testing.B) { benchmarkIngressChange(b, whole()) })
	}
}

func benchmarkIngressChange(b *testing.B, whole population) {
	b.Helper()
	opts := parse(flags{}, nil)
	cluster := whole.ledger()
	var p pipeline
	p.sync(b, cluster, opts)
	b.ReportAllocs()
	defer report(b, processor(b))
	step := 0
	for b.Loop() {
		step++
		ingress := whole.ingresses[0].DeepCopy()
		ingress.Spec.Rules[0].HTTP.Paths[0].Path = fmt.Sprintf("/p%d", step)
		cluster.Put(ingress)
		if steps := p.sync(b, cluster, opts); len(steps) != 1 || steps[0].Kind != plan.Reload {
			b.Fatalf("step %d: %s", step, describe(steps))
		}
	}
}

// BenchmarkCertificateRenewal measures a renewed certificate among 5,000, up to the body of its
// POST. With --backends-delta the body contains only that certificate.
func BenchmarkCertificateRenewal(b *testing.B) {
	for _, delta := range []bool{false, true} {
		b.Run(fmt.Sprintf("delta=%t", delta), func(b *testing.B) { benchmarkCertificateRenewal(b, delta) })
	}
}

func benchmarkCertificateRenewal(b *testing.B, delta bool) {
	b.Helper()
	opts := parse(flags{}, nil)
	opts.BackendsDelta = delta
	whole := certified()
	cluster := whole.ledger()
	var p pipeline
	p.sync(b, cluster, opts)
	var pairs []*corev1.Secret
	for range 2 {
		pair := pki.New("renewal").Issue("demo.example", []string{"*.demo.example"})
		secret := whole.secrets[0].DeepCopy()
		secret.Data = map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key}
		pairs = append(pairs, secret)
	}
	b.ReportAllocs()
	defer report(b, processor(b))
	step, sent := 0, 0
	for b.Loop() {
		step++
		cluster.Put(pairs[step%2])
		running := p.running
		steps := p.sync(b, cluster, opts)
		if len(steps) != 1 || steps[0].Kind != plan.PostServers {
			b.Fatalf("step %d: %s", step, describe(steps))
		}
		body, err := steps[0].Next.CertificatesBody(running)
		if err != nil {
			b.Fatal(err)
		}
		sent += len(body)
	}
	b.ReportMetric(float64(sent)/float64(b.N), "B-sent/op")
}

// BenchmarkStages measures each stage of a first sync.
func BenchmarkStages(b *testing.B) {
	opts := parse(flags{}, nil)
	whole := large(5000)
	cluster := snapshot.Take(whole)
	m, _ := model.Build(cluster, opts.Options)
	for _, stage := range []struct {
		name string
		do   func() error
	}{
		{"take-all", func() error { snapshot.Take(whole); return nil }},
		{"build", func() error { model.Build(cluster, opts.Options); return nil }},
		{"next", func() error { _, err := plan.Next(m, input(opts.Options)); return err }},
	} {
		b.Run(stage.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := stage.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
