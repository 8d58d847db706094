package compile_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/internal/pki"
)

// templateCluster has an ingress for each kind of data. CA, CERTIFICATE, KEY and CRL are
// placeholders for base64 data.
const templateCluster = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.7, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: published, namespace: ingress-nginx}
spec: {type: LoadBalancer, clusterIP: 10.96.0.8, ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{port: 8080}]
endpoints:
- {addresses: [10.0.0.1], conditions: {ready: true}, targetRef: {kind: Pod, namespace: shop, name: web-abc, uid: u1}}
- {addresses: [10.0.0.2], conditions: {ready: true}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  namespace: shop
  annotations:
    nginx.ingress.kubernetes.io/load-balance: ewma
    nginx.ingress.kubernetes.io/affinity: cookie
    nginx.ingress.kubernetes.io/affinity-mode: persistent
    nginx.ingress.kubernetes.io/session-cookie-name: stay
    nginx.ingress.kubernetes.io/session-cookie-max-age: "60"
    nginx.ingress.kubernetes.io/session-cookie-secure: "true"
    nginx.ingress.kubernetes.io/upstream-hash-by: $remote_addr
    nginx.ingress.kubernetes.io/upstream-hash-by-subset: "true"
    nginx.ingress.kubernetes.io/upstream-hash-by-subset-size: "4"
    nginx.ingress.kubernetes.io/auth-tls-secret: shop/all
    nginx.ingress.kubernetes.io/proxy-ssl-secret: shop/all
spec:
  rules:
  - host: shop.example
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: passed
  namespace: shop
  annotations:
    nginx.ingress.kubernetes.io/ssl-passthrough: "true"
    nginx.ingress.kubernetes.io/auth-tls-secret: shop/none
spec:
  rules:
  - host: passed.example
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
---
apiVersion: v1
kind: Secret
metadata: {name: all, namespace: shop}
data: {tls.crt: CERTIFICATE, tls.key: KEY, ca.crt: CA, ca.crl: CRL}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: controller, namespace: ingress-nginx}
data: {load-balance: ewma, enable-serial-reloads: "true", global-allowed-response-headers: "X-A,X-B"}
`

// Templates of ingress-nginx's forks read data that neither our template nor that of ingress-nginx
// reads.
func TestTemplateDataOfForks(t *testing.T) {
	authority := pki.New("shop")
	certificate := authority.Issue("shop.example", nil)
	inBase64 := base64.StdEncoding.EncodeToString
	source, err := snapshot.FromYAML(snapshot.File{Name: "cluster.yaml", Data: []byte(strings.NewReplacer(
		"CERTIFICATE", inBase64(certificate.Certificate), "KEY", inBase64(certificate.Key), "CA", inBase64(authority.PEM), "CRL", inBase64(authority.Revoke(certificate)),
	).Replace(templateCluster))})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{{ range .PassthroughBackends }}{{ .Hostname }} {{ .Backend }} {{ .Service.Name }} {{ .Port }}{{ end }}`: "passed.example shop-web-80 web 80",
		`{{ .PublishService.Namespace }}/{{ .PublishService.Name }} {{ .PublishService.Spec.ClusterIP }}`:         "ingress-nginx/published 10.96.0.8",
		`{{ if gt .MonitorMaxBatchSize 1 }}{{ .MonitorMaxBatchSize }}{{ end }}`:                                   "20000",
		`{{ .Cfg.LoadBalancing }}`:                                 "ewma",
		`{{ if .Cfg.WorkerSerialReloads }}serial{{ end }}`:         "serial",
		`{{ range .Cfg.AllowedResponseHeaders }}{{ . }} {{ end }}`: "X-A X-B",

		ofBackend(`{{ .LoadBalancing }}`): "ewma",
		ofBackend(`{{ with .SessionAffinity }}{{ .AffinityType }} {{ .AffinityMode }}{{ end }}`):                                                   "cookie persistent",
		ofBackend(`{{ with .SessionAffinity.CookieSessionAffinity }}{{ .Name }} {{ .MaxAge }} {{ .Secure }} {{ .Path }}{{ .Locations }}{{ end }}`): "stay 60 true map[shop.example:[/]]",
		ofBackend(`{{ with .UpstreamHashBy }}{{ .UpstreamHashBy }} {{ .UpstreamHashBySubset }} {{ .UpstreamHashBySubsetSize }}{{ end }}`):          "$remote_addr true 4",
		ofBackend(`{{ range .Endpoints }}{{ .Address }} {{ with .Target }}{{ .Kind }} {{ .Namespace }}/{{ .Name }} {{ .UID }} {{ end }}{{ end }}`): "10.0.0.1 Pod shop/web-abc u1 10.0.0.2",

		ofServer(`{{ range .Locations }}{{ .Ingress.Name }} {{ .Ingress.ObjectMeta.Namespace }} {{ .Ingress.ParsedAnnotations.Backend.LoadBalance }} {{ .Ingress.ParsedAnnotations.Rewrite.SSLRedirect }}{{ end }}`): "web shop ewma true",
		ofServer(`{{ .CertificateAuth.Secret }} {{ .CertificateAuth.PemFileName }}`):                                      "shop/all /etc/ingress-controller/ssl/shop_all.pem",
		ofServer(`{{ .ProxySSL.CRLFileName }} {{ eq .ProxySSL.CRLSHA .CertificateAuth.CRLSHA }}`):                         "/etc/ingress-controller/ssl/crl_shop_all.pem true",
		`{{ range .Servers }}{{ if eq .Hostname "passed.example" }}{{ .CertificateAuth.AuthTLSError }}{{ end }}{{ end }}`: "Secret shop/none: it does not exist",
	} {
		in := compile.Input{
			Input: render.Input{Options: options.Options{
				Config: options.Defaults(2, false), Ports: options.DefaultPorts, DynamicConfiguration: true, ForeignTemplate: true,
				EnableSSLPassthrough: true, MonitorBatchSize: 20000, Stream: options.LuaStream,
				PublishService: types.NamespacedName{Namespace: "ingress-nginx", Name: "published"},
			}},
			ConfigMap: types.NamespacedName{Namespace: "ingress-nginx", Name: "controller"},
		}
		if in.Template, err = render.Parse("fork.tmpl", []byte(text)); err != nil {
			t.Fatal(err)
		}
		compiled, err := compile.Compile(snapshot.Take(source), in)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := strings.TrimSpace(compiled.State.Conf.String()); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
		for _, file := range strings.Fields(want) {
			if strings.HasPrefix(file, "/etc/ingress-controller/") && len(compiled.State.Files[file]) == 0 {
				t.Errorf("there is no file %s", file)
			}
		}
	}
}

func ofBackend(text string) string {
	return fmt.Sprintf(`{{ range .Backends }}{{ if eq .Name "shop-web-80" }}%s{{ end }}{{ end }}`, text)
}

func ofServer(text string) string {
	return fmt.Sprintf(`{{ range .Servers }}{{ if eq .Hostname "shop.example" }}%s{{ end }}{{ end }}`, text)
}
