package derive

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"windtunnel.dev/sim/behave"
)

// slowness is how late pods answer requests that must overlap.
const slowness = 500 * time.Millisecond

// errorMethods are the methods of requests that pods answer with an error.
var errorMethods = []string{"DELETE", "PUT"}

// askErrors makes the pods answer with statuses in the list.
func askErrors(a *asker) {
	if a.path.grpc() {
		return
	}
	codes := list(a.i.value("custom-http-errors"))
	for n, method := range errorMethods {
		if n >= len(codes) {
			break
		}
		status, err := strconv.Atoi(codes[n])
		if err != nil || status < 400 || status > 599 {
			continue
		}
		if !a.path.backend.rule(behave.Rule{Method: method, Answer: behave.Answer{Status: status}}) {
			a.notes.add("annotation/custom-http-errors", "not tested: another annotation determines the answers of the pods", a.i.object())
			continue
		}
		q := a.ask(method, a.site.scheme(), a.site.host, a.target())
		q.look.pod = []string{"X-Code", "X-Format", "X-Original-Uri", "X-Service-Name"}
		q.look.received = append(q.look.received, a.path.backend.name)
	}
	if len(codes) > len(errorMethods) {
		a.notes.add("annotation/custom-http-errors", "tested for the first statuses of the list only", a.i.object())
	}
}

// askNoPods asks when the service has no pods.
func askNoPods(a *asker) {
	to := a.path.backend
	a.scale(to, 0)
	a.get(a.target()).when = last
	a.scale(to, replicas(to))
}

func replicas(of *service) int {
	if of.pods.Replicas == nil {
		return 1
	}
	return *of.pods.Replicas
}

func (a *asker) scale(of *service, to int) {
	q := &question{when: last}
	q.step.Scale = map[string]int{of.name: to}
	a.questions = append(a.questions, q)
}

// askProtocol asks which protocol and Host header the pods receive.
func askProtocol(a *asker) {
	q := a.get(a.target())
	q.look.protocol, q.look.host = true, true
	q.look.sni = slices.Contains([]string{"https", "grpcs"}, a.path.backend.pods.Protocol)
	q.step.About = slices.DeleteFunc(q.step.About, func(about string) bool {
		return strings.HasPrefix(about, "annotation/proxy-ssl-") && !q.look.sni
	})
}

// askFastCGI asks for the parameters that pods receive.
func askFastCGI(a *asker) {
	if a.path.backend.pods.Protocol != "fastcgi" {
		a.get(a.target())
		return
	}
	q := a.get(strings.TrimSuffix(a.target(), "/") + "/")
	q.look.params = []string{"SCRIPT_FILENAME", "SCRIPT_NAME"}
	if at, ok := a.i.reference("fastcgi-params-configmap"); ok && a.cluster.configMaps[at] != nil {
		for name := range a.cluster.configMaps[at].Data {
			q.look.params = append(q.look.params, name)
		}
		slices.Sort(q.look.params)
		q.look.params = slices.Compact(q.look.params)
	}
}

// oldBrowser is the User-Agent of a browser that misinterprets SameSite=None.
const oldBrowser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/58.0.3029.110 Safari/537.36"

// askSession asks for the cookie, and whether it leads to the same pod.
func askSession(a *asker) {
	a.get(a.target()).look.cookies = true
	if a.i.has("session-cookie-conditional-samesite-none") {
		a.get(a.target()).header("User-Agent", oldBrowser).look.cookies = true
	}
	q := a.get(a.target())
	q.step.Jar, q.step.Times = a.i.Name, 10
	q.look.samePod = true
}

// askHash asks whether equal requests go to the same pod.
func askHash(a *asker) {
	q := a.get(a.target())
	q.step.Times = 10
	q.look.samePod = true
	if a.i.on("upstream-hash-by-subset") {
		q.look.samePod = false // any pod of the subset
	}
}

// askMirror asks what the mirror receives.
func askMirror(a *asker) {
	_, _, ok := a.called(a.i.Namespace, a.i.value("mirror-target"), mirrorService)
	if !ok {
		a.notes.add("annotation/mirror-target", "not tested: its host is a variable", a.i.object())
		return
	}
	if a.path.grpc() {
		return
	}
	q := a.ask("POST", a.site.scheme(), a.site.host, a.target()+"?windtunnel=1")
	q.step.Body = word
	q.look.receivedHost = a.i.has("mirror-host")
}

// askCiphers asks as a client that chooses its cipher, and as one that does not.
func askCiphers(a *asker) {
	for _, ciphers := range [][]string{nil, {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"}, {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"}} {
		q := a.ask("GET", "https", a.site.host, a.target())
		q.step.TLS.Max, q.step.TLS.Ciphers = "1.2", ciphers
		q.look.cipher = true
	}
}
