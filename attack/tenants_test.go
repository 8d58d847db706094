package attack_test

import (
	"cmp"
	"encoding/pem"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/attack"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/quarantine"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/tls"
	"windtunnel.dev/internal/golden"
)

// claim is an ingress of the namespace other, and its effect on the ingress victim/web, which has
// the path "/" of shared.example.
type claim struct {
	what  string // the relevant part of the ingress
	older bool   // than the victim
	// takes is the expected effect on the victim, see effects; empty for none.
	takes string
	note  string

	host, path                 string // default: shared.example and /other
	namespace, service, victim string // default: other, web and victim
	exact                      bool
	annotations                map[string]string
	change                     func(*networkingv1.Ingress)
	rejected                   bool // nginx rejects it
}

func annotated(pairs ...string) map[string]string {
	all := make(map[string]string)
	for pair := range slices.Chunk(pairs, 2) {
		all["nginx.ingress.kubernetes.io/"+pair[0]] = pair[1]
	}
	return all
}

const oldestWins = "The oldest ingress that claims a path has it; the webhook rejects the claim."

var claims = []claim{
	{what: "the same path", path: "/", note: oldestWins},
	{what: "the same path", path: "/", older: true, takes: "requests of /, requests of /shop", note: oldestWins},
	{what: "the same path of the other type (Exact)", path: "/", exact: true, takes: "requests of /", note: "nginx has a location for each; Exact takes precedence over Prefix."},
	{what: "a longer path", path: "/shop", takes: "requests of /shop", note: "All ingresses of a host share its paths. Use an admission policy to restrict hosts to namespaces."},
	{what: "a regular expression (`use-regex`)", path: "/sh.*", annotations: annotated("use-regex", "true"), takes: "requests of /shop, how paths match", note: "nginx tries the longest expression first."},
	{what: "`rewrite-target`", annotations: annotated("rewrite-target", "/x"), takes: "how paths match", note: "All paths of the host become case-insensitive regular expressions."},
	{what: "`canary` of the victim's path", path: "/", annotations: annotated("canary", "true", "canary-weight", "100"), takes: "a share of requests", note: "A canary may be in any namespace."},
	{what: "`server-alias` with the victim's host", host: "other.example", annotations: annotated("server-alias", "shared.example"), note: "A host name takes precedence over aliases."},
	{what: "`server-alias` with the victim's host", older: true, host: "other.example", annotations: annotated("server-alias", "shared.example"), note: "A host name takes precedence over aliases."},
	{what: "`server-alias` on the shared host", annotations: annotated("server-alias", "more.example"), takes: "settings of the host", note: "The host answers to one more name."},
	{what: "`from-to-www-redirect` of www.shared.example", host: "www.shared.example", annotations: annotated("from-to-www-redirect", "true"), note: "A host that has an ingress is not redirected."},
	{what: "`app-root`", annotations: annotated("app-root", "/other"), takes: "requests of / (redirected)", note: "`app-root` applies to the whole host."},
	{what: "`spec.defaultBackend` on the shared host", change: func(i *networkingv1.Ingress) { i.Spec.DefaultBackend = backend("web") }, note: "It answers only on paths that no ingress claims."},
	{what: "`default-backend`", annotations: annotated("default-backend", "web"), note: "Applies to its own paths only."},
	{what: "`custom-http-errors`", annotations: annotated("custom-http-errors", "401,403,404"), note: "Applies to its own paths only."},
	{what: "`server-snippet`", annotations: annotated("server-snippet", "return 204;"), takes: "settings of the host", note: "Off unless `allow-snippet-annotations` is on and `annotations-risk-level` is Critical: then tenants must trust one another."},
	{what: "`configuration-snippet`", annotations: annotated("configuration-snippet", "return 204;"), note: "Applies to its own paths only, but a snippet can read everything that nginx can read."},
	{what: "`auth-tls-secret`", annotations: annotated("auth-tls-secret", "other/ca"), takes: "settings of the host", note: "Client certificates apply to the whole host. The oldest ingress that asks for them decides."},
	{what: "`auth-tls-secret` with the Secret of another namespace", annotations: annotated("auth-tls-secret", "victim/ca"), note: "An ingress must not name Secrets of other namespaces (`allow-cross-namespace-resources`)."},
	{what: "`auth-secret` of another namespace", annotations: annotated("auth-type", "basic", "auth-secret", "victim/users"), note: "As above; its own requests get 503."},
	{what: "`spec.tls`", change: func(i *networkingv1.Ingress) {
		i.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{"shared.example"}, SecretName: "cert"}}
	}, takes: "settings of the host", note: "A host has one certificate, that of the oldest ingress that has one. To prevent this, list the host in the victim's own `spec.tls`."},
	{what: "`ssl-ciphers`", annotations: annotated("ssl-ciphers", "AES128-SHA"), takes: "settings of the host", note: "The oldest ingress with this annotation decides."},
	{what: "`ssl-passthrough`", annotations: annotated("ssl-passthrough", "true"), takes: "settings of the host", note: "Needs `--enable-ssl-passthrough`; nginx passes TLS unopened to the pods of `/`."},
	{what: "`proxy-ssl-secret`", annotations: annotated("proxy-ssl-secret", "other/ca", "proxy-ssl-verify", "on"), takes: "settings of the host", note: "Unless `proxy-ssl-location-only` is on."},
	{what: "an affinity cookie of the same name", annotations: annotated("affinity", "cookie", "session-cookie-name", "INGRESSCOOKIE", "session-cookie-path", "/"), note: "nginx keeps them apart, but a browser stores one cookie per name and path."},
	{what: "`limit-rps`", annotations: annotated("limit-rps", "1"), note: "Zones are named after the ingress."},
	{what: "`enable-cors`", annotations: annotated("enable-cors", "true"), note: "Applies to its own paths only."},
	{what: "`mirror-target`", annotations: annotated("mirror-target", "http://mirror.example/"), note: "Applies to its own paths only."},
	{what: "`auth-url`", annotations: annotated("auth-url", "http://auth.example/"), note: "Applies to its own paths only."},
	{what: "`load-balance`", annotations: annotated("load-balance", "ewma"), note: "A backend is a service of one namespace."},
	{what: "a service whose backend has the name of the victim's (`a-b/c`, `a/b-c`)", namespace: "vic", service: "tim-web", victim: "vic-tim", older: true, takes: "requests of / (503), requests of /shop (503)", note: "The oldest ingress gets the name; requests for the other service get 503 and never reach the wrong service. This is possible if the name of one namespace is that of another plus a hyphen and more."},
	{what: "a service whose backend has the name of the victim's (`a-b/c`, `a/b-c`)", namespace: "vic", service: "tim-web", victim: "vic-tim", note: "As above."},
	{what: "anything that nginx rejects", rejected: true, annotations: annotated("configuration-snippet", "no_such_directive;"), note: "Its own paths answer 503."},
	{what: "anything that nginx rejects, on the victim's path", path: "/", rejected: true, annotations: annotated("configuration-snippet", "no_such_directive;"), note: oldestWins},
	{what: "anything that nginx rejects, with `auth-tls-secret`", rejected: true, annotations: annotated("auth-tls-secret", "other/ca", "configuration-snippet", "no_such_directive;"), takes: "requests of / (503), requests of /shop (503)",
		note: "The annotation would have applied to the whole host. If the victim has its own `auth-tls-secret`, it stays served."},
	{what: "anything that nginx rejects, with a `server-snippet` of access rules", rejected: true, annotations: annotated("server-snippet", "deny all; no_such_directive;"), takes: "requests of / (503), requests of /shop (503)",
		note: "As above."},
}

func backend(service string) *networkingv1.IngressBackend {
	return &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: service, Port: networkingv1.ServiceBackendPort{Number: 80}}}
}

func ingressOf(namespace, host, path string, born int64) *networkingv1.Ingress {
	prefix := networkingv1.PathTypePrefix
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", UID: types.UID(namespace), CreationTimestamp: metav1.Unix(born, 0)}}
	http := &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: path, PathType: &prefix, Backend: *backend("web")}}}
	ingress.Spec.Rules = []networkingv1.IngressRule{{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{HTTP: http}}}
	return ingress
}

func (c claim) ingress() *networkingv1.Ingress {
	born := int64(2000)
	if c.older {
		born = 0
	}
	ingress := ingressOf(cmp.Or(c.namespace, "other"), cmp.Or(c.host, "shared.example"), cmp.Or(c.path, "/other"), born)
	ingress.Annotations = c.annotations
	ingress.Spec.Rules[0].HTTP.Paths[0].Backend = *backend(cmp.Or(c.service, "web"))
	if c.exact {
		ingress.Spec.Rules[0].HTTP.Paths[0].PathType = new(networkingv1.PathTypeExact)
	}
	if c.change != nil {
		c.change(ingress)
	}
	return ingress
}

// with returns the model of the victim's cluster with the claims.
func with(victim string, claims ...claim) *model.Model {
	ca := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "ca"}, Data: map[string][]byte{"ca.crt": authority()}}
	cluster := snapshot.Snapshot{Services: map[types.NamespacedName]*corev1.Service{}, Secrets: map[types.NamespacedName]*corev1.Secret{snapshot.NameOf(ca): ca}}
	for _, name := range []string{victim + "/web", "other/web", "vic/tim-web"} {
		namespace, short, _ := strings.Cut(name, "/")
		meta := metav1.ObjectMeta{Namespace: namespace, Name: short}
		cluster.Services[snapshot.NameOf(&meta)] = &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.1", Ports: []corev1.ServicePort{{Port: 80}}}}
	}
	ingresses := []*networkingv1.Ingress{ingressOf(victim, "shared.example", "/", 1000)}
	for _, c := range claims {
		ingress := c.ingress()
		if c.rejected {
			replacement := quarantine.ReplacementOf(ingress, nil, "")
			ingress = replacement.Ingress
			cluster.Closed = map[*networkingv1.Ingress]snapshot.Closure{ingress: *replacement.Closure}
		}
		ingresses = append(ingresses, ingress)
	}
	cluster.Ingresses = snapshot.OldestFirst(ingresses)
	config := options.Defaults(2, false)
	config.AllowSnippetAnnotations, config.AnnotationsRiskLevel = true, "Critical"
	built, _ := model.Build(cluster, options.Options{Config: config, Ports: options.DefaultPorts, DynamicConfiguration: true, EnableSSLPassthrough: true})
	return built
}

// authority returns a certificate that is used as a CA certificate.
var authority = sync.OnceValue(func() []byte {
	pair, err := tls.Fake(time.Now())
	if err != nil {
		panic(err)
	}
	block, _ := pem.Decode([]byte(pair.PEM))
	return pem.EncodeToMemory(block)
})

// effects returns the changes that a claim causes for the victim.
func effects(victim string, before, after *model.Model) string {
	var found []string
	was, is := server(before), server(after)
	for _, path := range []string{"/", "/shop"} {
		switch l := answers(is, path); {
		case l == nil || l.Ingress == nil || l.Ingress.Namespace != victim:
			found = append(found, "requests of "+path)
		case l.Denied != nil:
			found = append(found, "requests of "+path+" (503)")
		case path == "/" && slices.ContainsFunc(is.Locations, func(l *model.Location) bool { return l.Rewrite.AppRoot != "" }):
			found = append(found, "requests of / (redirected)")
		}
	}
	if old, now := primary(victim, before), primary(victim, after); now != nil && !slices.Equal(old.AlternativeBackends, now.AlternativeBackends) {
		found = append(found, "a share of requests")
	} else if now != nil && (old.LoadBalancing != now.LoadBalancing || !reflect.DeepEqual(old.SessionAffinity, now.SessionAffinity)) {
		found = append(found, "how pods are chosen")
	}
	if patterns(was) != patterns(is) {
		found = append(found, "how paths match")
	}
	old, now := *was, *is
	old.Locations, now.Locations = nil, nil
	if fmt.Sprintf("%+v", old) != fmt.Sprintf("%+v", now) && !strings.Contains(strings.Join(found, ","), "(503)") {
		found = append(found, "settings of the host")
	}
	return strings.Join(found, ", ")
}

func server(m *model.Model) *model.Server {
	i := slices.IndexFunc(m.Servers, func(s *model.Server) bool { return s.Hostname == "shared.example" })
	return m.Servers[i]
}

func primary(victim string, m *model.Model) *model.Backend {
	return m.Backends.Find(victim + "-web-80")
}

func patterns(s *model.Server) bool {
	return slices.ContainsFunc(s.Locations, func(l *model.Location) bool { return l.Rewrite.UseRegex || l.Rewrite.Target != "" })
}

// answers returns the location that nginx chooses: the first matching expression
// or, without expressions, the exact path, else the longest prefix.
func answers(s *model.Server, path string) *model.Location {
	var found *model.Location
	for _, l := range s.Locations {
		switch {
		case patterns(s):
			if regexp.MustCompile("(?i)^" + l.Path).MatchString(path) {
				return l
			}
		case *l.PathType == networkingv1.PathTypeExact:
			if l.Path == path {
				return l
			}
		case strings.HasPrefix(path, l.Path) && (found == nil || len(l.Path) > len(found.Path)):
			found = l
		}
	}
	return found
}

// The test checks the effects of an ingress on another namespace's ingress of the same host, and
// generates docs/tenancy.md from them.
func TestTenantsOfASharedHost(t *testing.T) {
	var rows strings.Builder
	landed := 0
	for _, c := range claims {
		victim := cmp.Or(c.victim, "victim")
		got := effects(victim, with(victim), with(victim, c))
		if got != c.takes {
			landed++
			t.Errorf("%s (older: %t) takes %q, want %q", c.what, c.older, got, c.takes)
		}
		who := "younger"
		if c.older {
			who = "older"
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s |\n", c.what, who, cmp.Or(got, "nothing"), c.note)
	}
	golden.Check(t, "../docs/tenancy.md", []byte(tenancyHead+rows.String()))
	attack.Report(t, attack.Row{Target: "shared host", Attack: "claims of another namespace's ingress", Tried: len(claims), Landed: landed,
		Success: "an effect on the other ingress that docs/tenancy.md does not list"})
}

const tenancyHead = `# Tenancy

This page lists what one ingress can take from an ingress of another namespace on the same host.
ingress-nginx isolates namespaces by what an ingress may name (Secrets, ConfigMaps, services), not
by hosts: anyone who may create an ingress for a host shares it. The bundled controller does the
same, but rejects changes that can only do harm. If tenants do not trust one another, use an
admission policy to give each its own hosts.

The other ingress, in the namespace ` + "`victim`" + `, has ` + "`/`" + ` of ` + "`shared.example`" + ` and no annotations.
Snippets are allowed, and ` + "`annotations-risk-level`" + ` is Critical. The effects in the table are by
design and the same in ingress-nginx, with one exception: where the table has 503 because nginx
rejects something, ingress-nginx stops applying changes for everybody.

*A test writes this page; it computes each row with the controller's model.*

| an ingress of another namespace has | it is | what it takes from the victim | why |
|---|---|---|---|
`
