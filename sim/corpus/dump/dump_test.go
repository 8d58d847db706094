package dump_test

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/explain"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/internal/pki"
	"windtunnel.dev/sim/corpus/clusters"
	"windtunnel.dev/sim/corpus/dump"
	"windtunnel.dev/sim/manifest"
)

var config = types.NamespacedName{Namespace: "ingress-nginx", Name: "ingress-nginx-controller"}

// secrets is a dump, with the secrets that its import must not contain.
type secrets struct {
	dump string
	keys [][]byte // private keys, in DER
}

// hostile returns a dump that has private keys and passwords in every place where users put them.
func hostile() secrets {
	authority := pki.New("Example Authority")
	web := authority.Issue("shop.example.com", []string{"shop.example.com", "www.shop.example.com"})
	other := authority.Issue("other", []string{"other.example.com"})
	unused := authority.Issue("unused", []string{"unused.example.com"})
	in := func(text []byte) string { return base64.StdEncoding.EncodeToString(text) }
	quoted := func(text string) string { return fmt.Sprintf("%q", text) }
	all := secrets{dump: `
apiVersion: v1
kind: List
items:
- apiVersion: networking.k8s.io/v1
  kind: Ingress
  metadata:
    name: web
    namespace: shop-team
    uid: 11111111-2222-3333-4444-555555555555
    resourceVersion: "77"
    creationTimestamp: "2024-01-02T03:04:05Z"
    labels: {owner: alice}
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: ` + quoted(`{"note":"`+in(web.Key)+`"}`) + `
      nginx.ingress.kubernetes.io/auth-type: basic
      nginx.ingress.kubernetes.io/auth-secret: users
      nginx.ingress.kubernetes.io/auth-tls-secret: shop-team/clients
      nginx.ingress.kubernetes.io/auth-url: https://robot:s3cr3tpass@sso.internal.example.org/check?x=1
      nginx.ingress.kubernetes.io/server-alias: old.shop.example.com,~^v[0-9]+\.shop\.example\.com$
      nginx.ingress.kubernetes.io/configuration-snippet: ` + quoted("# shop.example.com\n"+string(other.Key)) + `
      nginx.ingress.kubernetes.io/auth-snippet: "# ` + in(other.Key) + `"
    managedFields: [{manager: kubectl, operation: Apply}]
  spec:
    ingressClassName: nginx
    tls: [{hosts: [shop.example.com], secretName: web-tls}]
    rules:
    - host: shop.example.com
      http: {paths: [{path: /cart, pathType: Prefix, backend: {service: {name: cart, port: {number: 80}}}}]}
  status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}
- {apiVersion: v1, kind: Service, metadata: {name: cart, namespace: shop-team}, spec: {clusterIP: 10.96.0.9, selector: {app: cart}, ports: [{port: 80}]}}
- {apiVersion: v1, kind: Service, metadata: {name: idle, namespace: shop-team}, spec: {ports: [{port: 80}]}}
- apiVersion: discovery.k8s.io/v1
  kind: EndpointSlice
  metadata: {name: cart-x2b4c, namespace: shop-team, labels: {kubernetes.io/service-name: cart}}
  addressType: IPv4
  ports: [{port: 8080}]
  endpoints: [{addresses: [10.0.0.1], conditions: {ready: true}, nodeName: node-of-alice, targetRef: {kind: Pod, name: cart-pod-of-alice}}]
- apiVersion: v1
  kind: Secret
  metadata:
    name: web-tls
    namespace: shop-team
    annotations: {kubectl.kubernetes.io/last-applied-configuration: ` + quoted(in(web.Key)) + `}
  type: kubernetes.io/tls
  data: {tls.crt: ` + in(web.Certificate) + `, tls.key: ` + in(web.Key) + `, backup.key: ` + in(other.Key) + `}
- apiVersion: v1
  kind: Secret
  metadata: {name: clients, namespace: shop-team}
  data: {ca.crt: ` + in(append(slices.Clone(authority.PEM), other.Key...)) + `, ca.crl: ` + in(authority.Revoke(other)) + `}
- apiVersion: v1
  kind: Secret
  metadata: {name: users, namespace: shop-team}
  stringData: {auth: "alice:$apr1$realhash\nno entry\n", token: t0ps3cret}
- {apiVersion: v1, kind: Secret, metadata: {name: database, namespace: shop-team}, data: {key: ` + in(unused.Key) + `}}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: ingress-nginx-controller, namespace: ingress-nginx}
  data:
    ssl-session-ticket-key: ` + in(bytes.Repeat([]byte("ticket"), 8)) + `
    http-snippet: ` + quoted(string(web.Key)) + `
    proxy-body-size: 8m
    main-snippet: "# ` + in(derOf(unused.Key)) + `"
  binaryData: {key: ` + in(web.Key) + `}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop-team}, data: {key: ` + quoted(string(unused.Key)) + `}}
- {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop-team}}
`}
	for _, pair := range []pki.Pair{web, other, unused} {
		all.keys = append(all.keys, derOf(pair.Key))
	}
	return all
}

func derOf(text []byte) []byte {
	block, _ := pem.Decode(text)
	return block.Bytes
}

func imported(t testing.TB, text string, o dump.Options) (dump.Import, string) {
	t.Helper()
	manifests, err := manifest.Parse("dump.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	result, err := dump.Of(manifests, o)
	if err != nil {
		t.Fatal(err)
	}
	out, err := result.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	return result, string(out)
}

// everything returns a file of manifests, followed by the decoded values of its Secrets and their PEM
// blocks, and without line breaks.
func everything(t testing.TB, text string) string {
	t.Helper()
	var all strings.Builder
	all.WriteString(text)
	source, err := snapshot.FromYAML(snapshot.File{Name: "imported.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range source.Secrets() {
		for key, value := range secret.Data {
			all.WriteString(key)
			all.Write(value)
			for rest := value; ; {
				var block *pem.Block
				if block, rest = pem.Decode(rest); block == nil {
					break
				}
				all.Write(block.Bytes)
			}
		}
	}
	return all.String() + strings.Join(strings.Fields(all.String()), "")
}

// No form of a private key of the dump is in the result: not in DER, PEM or twice encoded, whole or
// in part.
func TestNoPrivateKeyIsKept(t *testing.T) {
	for _, hash := range [][]byte{nil, []byte("a key of the hashes")} {
		given := hostile()
		_, text := imported(t, given.dump, dump.Options{ConfigMap: config, HashKey: hash})
		all := everything(t, text)
		for _, key := range given.keys {
			if found := partOf(key, all); found != "" {
				t.Errorf("hash %q: the result has a part of a private key: %q", hash, found)
			}
		}
		for _, secret := range []string{"s3cr3tpass", "realhash", "t0ps3cret", base64.StdEncoding.EncodeToString([]byte("t0ps3cret")), base64.StdEncoding.EncodeToString([]byte("ticketticket")), "node-of-alice", "pod-of-alice", "192.0.2.1", "app: cart"} {
			if strings.Contains(all, secret) {
				t.Errorf("hash %q: the result has %q", hash, secret)
			}
		}
	}
}

// partOf returns a form of a part of a key that is in the text. It looks for all parts of 12 bytes:
// as they are, and in the base64 of each alignment, once and twice.
func partOf(key []byte, text string) string {
	const size = 12
	// The first 36 bytes of a key in PKCS #8 describe its kind, and are the same in all keys. The public
	// key follows the private one; certificates contain it, but they are replaced, too.
	for at := 36; at+size <= len(key); at++ {
		part := key[at : at+size]
		once := base64.StdEncoding.EncodeToString(part)
		for _, form := range []string{string(part), once} {
			if strings.Contains(text, form) {
				return form
			}
		}
	}
	block := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	for at := 120; at+40 <= len(block); at += 4 {
		if strings.Contains(text, block[at:at+40]) {
			return block[at : at+40]
		}
	}
	return ""
}

// partOf finds keys: the dump itself contains them in each form.
func TestPartOfFindsKeys(t *testing.T) {
	given := hostile()
	flat := strings.Join(strings.Fields(strings.ReplaceAll(given.dump, `\n`, "")), "")
	for n, key := range given.keys {
		if partOf(key, flat) == "" {
			t.Errorf("key %d is not found in the dump", n)
		}
		if partOf(key, "x"+base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))) == "" {
			t.Errorf("key %d is not found in the base64 of its PEM", n)
		}
		if partOf(key, "x"+string(key)) == "" {
			t.Errorf("key %d is not found in DER", n)
		}
	}
}

func TestSummary(t *testing.T) {
	result, _ := imported(t, hostile().dump, dump.Options{ConfigMap: config})
	s := result.Summary
	for _, want := range []struct {
		counts map[string]int
		what   string
		n      int
	}{
		{s.Took, "Ingress", 1}, {s.Took, "Service", 1}, {s.Took, "EndpointSlice", 1}, {s.Took, "Secret", 3}, {s.Took, "ConfigMap", 1},
		{s.Replaced, "certificate", 1}, {s.Replaced, "certificate of an authority", 1}, {s.Replaced, "password hash", 1},
		{s.Replaced, "revocation list, by an empty one", 1}, {s.Replaced, "private key in a text", 4}, {s.Replaced, "key for session tickets", 1},
		{s.LeftOut, "Pod, which the controller does not read", 1}, {s.LeftOut, "Secret that nothing refers to", 1},
		{s.LeftOut, "Service that nothing refers to", 1}, {s.LeftOut, "ConfigMap that nothing refers to", 1},
		{s.LeftOut, "key of a Secret that the controller does not read", 2}, {s.LeftOut, "line of a password file that is not an entry", 1},
		{s.LeftOut, "name and password of a URL", 1}, {s.LeftOut, "binary entry of a ConfigMap", 1},
		{s.LeftOut, "annotation that the controller does not read", 1},
		{s.Check, "annotation configuration-snippet", 1}, {s.Check, "ConfigMap key http-snippet", 1},
	} {
		if got := want.counts[want.what]; got != want.n {
			t.Errorf("%d × %s, want %d", got, want.what, want.n)
		}
	}
	if want := []string{"--configmap=ingress-nginx/ingress-nginx-controller"}; !slices.Equal(result.Flags, want) {
		t.Errorf("flags %q, want %q", result.Flags, want)
	}
}

// The generated certificate has the names of the user's certificate, and is the same each time.
func TestCertificatesKeepNames(t *testing.T) {
	given := hostile()
	_, text := imported(t, given.dump, dump.Options{ConfigMap: config})
	_, again := imported(t, given.dump, dump.Options{ConfigMap: config})
	if text != again {
		t.Error("two imports of one dump differ")
	}
	old, made := certificate(t, given.dump), certificate(t, text)
	if old.Subject.String() != made.Subject.String() || !slices.Equal(old.DNSNames, made.DNSNames) || !old.NotBefore.Equal(made.NotBefore) || !old.NotAfter.Equal(made.NotAfter) {
		t.Errorf("the certificate is for %v %q from %v to %v, want %v %q from %v to %v",
			made.Subject, made.DNSNames, made.NotBefore, made.NotAfter, old.Subject, old.DNSNames, old.NotBefore, old.NotAfter)
	}
	if bytes.Equal(old.RawSubjectPublicKeyInfo, made.RawSubjectPublicKeyInfo) {
		t.Error("the key is the user's")
	}
}

// certificate returns the certificate of the Secret web-tls.
func certificate(t *testing.T, text string) *x509.Certificate {
	t.Helper()
	source, err := snapshot.FromYAML(snapshot.File{Name: "f", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range source.Secrets() {
		if secret.Name == "web-tls" {
			block, _ := pem.Decode(secret.Data[corev1.TLSCertKey])
			found, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
	}
	t.Fatal("no Secret web-tls")
	return nil
}

// With hashed names, no name of the dump is left, and each key gives other hashes.
func TestHashedNames(t *testing.T) {
	given := hostile()
	o := dump.Options{ConfigMap: config, HashKey: []byte("a key of the hashes")}
	_, text := imported(t, given.dump, o)
	all := everything(t, text)
	for _, name := range []string{"shop", "name: cart", "web-tls", "clients", "alice", "sso", "example.org", "example.com", "Example Authority", "ingress-nginx-controller"} {
		if strings.Contains(all, name) {
			t.Errorf("the result has %q", name)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	if !strings.Contains(text, "path: /cart") || !strings.Contains(text, "/check?x=1") {
		t.Error("paths are lost")
	}
	o.HashKey = []byte("another key of the hashes")
	if _, other := imported(t, given.dump, o); other == text {
		t.Error("another key gives the same names")
	}
}

// The controller has the same findings about the import of a cluster as about the cluster itself: valid
// references stay valid, and broken objects stay broken. Hashing changes only names.
func TestFindingsAreKept(t *testing.T) {
	for seed := range uint64(2) {
		c := clusters.Generate(60, seed)
		text, err := c.Manifests()
		if err != nil {
			t.Fatal(err)
		}
		o := dump.Options{
			ConfigMap: config, TCPServices: types.NamespacedName{Namespace: "ingress-nginx", Name: "tcp-services"},
			UDPServices:           types.NamespacedName{Namespace: "ingress-nginx", Name: "udp-services"},
			DefaultBackendService: types.NamespacedName{Namespace: "ingress-nginx", Name: "default-backend"},
		}
		plain, plainText := imported(t, string(text), o)
		o.HashKey = []byte("a key of the hashes")
		hashed, hashedText := imported(t, string(text), o)
		want := found(t, string(text), c.Flags)
		if got := found(t, plainText, plain.Flags); !slices.Equal(got, want) {
			t.Errorf("seed %d: the findings are\n%s\nwant\n%s", seed, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if got := found(t, hashedText, hashed.Flags); !slices.Equal(keysOf(got), keysOf(want)) {
			t.Errorf("seed %d: the findings with hashed names are\n%s\nwant\n%s", seed, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if len(plain.Flags) != len(c.Flags) {
			t.Errorf("seed %d: flags %q, want %q", seed, plain.Flags, c.Flags)
		}
	}
}

// keysOf returns the keys of findings, without the objects, in order.
func keysOf(findings []string) []string {
	var keys []string
	for _, f := range findings {
		_, key, _ := strings.Cut(f, "|")
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// found returns the findings of a controller, as object|key, in order.
func found(t *testing.T, text string, flags []string) []string {
	t.Helper()
	source, err := snapshot.FromYAML(snapshot.File{Name: "cluster.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	o := explain.Options{IngressClass: "nginx", Flags: options.Options{
		Config: options.Defaults(2, false), Ports: options.DefaultPorts, DynamicConfiguration: true, Stream: options.LuaStream,
	}}
	to := map[string]*types.NamespacedName{
		"--configmap": &o.ConfigMap, "--tcp-services-configmap": &o.Flags.TCPServices,
		"--udp-services-configmap": &o.Flags.UDPServices, "--default-backend-service": &o.Flags.DefaultBackendService,
	}
	for _, flag := range flags {
		key, value, _ := strings.Cut(flag, "=")
		namespace, name, _ := strings.Cut(value, "/")
		*to[key] = types.NamespacedName{Namespace: namespace, Name: name}
	}
	empty, err := snapshot.FromYAML()
	if err != nil {
		t.Fatal(err)
	}
	explanation, err := explain.Of(empty, source, o)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range explanation.Findings {
		all = append(all, f.Object+"|"+f.Key)
	}
	slices.Sort(all)
	return all
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: a}\n":                                                              "dump.yaml:1: Kubernetes has no extensions/v1beta1 Ingress since 1.22",
		"apiVersion: v1\nkind: Service\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: default}\n": "dump.yaml:5: Service default/a is in the dump twice, first at dump.yaml:1",
		"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: 7}\n":                                                            "dump.yaml:1: Service /a: ",
		"apiVersion: v1\nkind: Secret\nmetadata: {generateName: a-}\n":                                                                      "dump.yaml:1: a Secret without metadata.name",
	} {
		manifests, err := manifest.Parse("dump.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dump.Of(manifests, dump.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// For any dump, the result can be read, and does not contain a private key of the dump.
func FuzzImport(f *testing.F) {
	given := hostile()
	f.Add([]byte(given.dump), true)
	f.Add([]byte(given.dump), false)
	small, err := clusters.Generate(3, 2).Manifests()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(small, true)
	f.Add([]byte("apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\nspec: {rules: [{}, {http: {paths: [{}]}}], tls: [{}]}\n"), true)
	f.Fuzz(func(t *testing.T, data []byte, hash bool) {
		manifests, err := manifest.Parse("dump.yaml", data)
		if err != nil {
			return
		}
		o := dump.Options{ConfigMap: config}
		if hash {
			o.HashKey = []byte("a key of the hashes")
		}
		result, err := dump.Of(manifests, o)
		if err != nil {
			return
		}
		text, err := result.Manifests()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := snapshot.FromYAML(snapshot.File{Name: "imported.yaml", Data: text}); err != nil {
			t.Fatalf("the result cannot be read: %v", err)
		}
		all := everything(t, string(text))
		for _, key := range given.keys {
			if found := partOf(key, all); found != "" {
				t.Errorf("the result has a part of a private key: %q", found)
			}
		}
	})
}

// annotated returns a dump of an ingress with one annotation.
func annotated(name, value string) string {
	return fmt.Sprintf("{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, annotations: {nginx.ingress.kubernetes.io/%s: %q}}}\n", name, value)
}

// base64(1) wraps its output, so a key can span several lines.
func TestWrappedKeysAreNotKept(t *testing.T) {
	key := pki.New("Example Authority").Issue("a", []string{"a.example"}).Key
	for _, form := range [][]byte{key, derOf(key)} {
		for _, columns := range []int{64, 76} {
			var lines []string
			for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(form)), columns) {
				lines = append(lines, string(line))
			}
			for _, separator := range []string{"\n", "\r\n", "\n# "} {
				_, text := imported(t, annotated("configuration-snippet", "# "+strings.Join(lines, separator)+"\nproxy_buffering off;"), dump.Options{})
				if found := partOf(derOf(key), everything(t, text)); found != "" {
					t.Errorf("in lines of %d characters with %q: the result has %q", columns, separator, found)
				}
				kept, err := manifest.Parse("imported.yaml", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				if got := kept[0].Object.GetAnnotations()[dump.DefaultPrefix+"/configuration-snippet"]; !strings.HasSuffix(got, "\nproxy_buffering off;") {
					t.Errorf("the directive after the key is gone: %q", got)
				}
			}
		}
	}
}

// A password may contain the character that ends it, an @.
func TestPasswordsOfURLsAreNotKept(t *testing.T) {
	for url, want := range map[string]string{
		"https://robot:s3cr@t,pass@sso.example/check":  "https://sso.example/check",
		"https://sso.example/check?mail=a@b.example":   "https://sso.example/check?mail=a@b.example",
		"https://a:b@one.example, https://c@d@two.org": "https://one.example, https://two.org",
	} {
		_, text := imported(t, annotated("auth-url", url), dump.Options{})
		if !strings.Contains(text, "auth-url: "+want+"\n") {
			t.Errorf("%s: want %s in\n%s", url, want, text)
		}
	}
}

// A host with a port is hashed like any other; an address is not.
func TestHostsWithPortsAreHashed(t *testing.T) {
	for value, kept := range map[string]string{"app.secret.corp:8443": ":8443", "secret:80": ":80", "10.0.0.7:80": "10.0.0.7:80", "[fd00::7]:80": "[fd00::7]:80"} {
		_, text := imported(t, annotated("upstream-vhost", value), dump.Options{HashKey: []byte("a key of the hashes")})
		if strings.Contains(text, "secret") || strings.Contains(text, "corp") || !strings.Contains(text, kept) {
			t.Errorf("%s is not hashed, or %s is missing:\n%s", value, kept, text)
		}
	}
}
