package clusters

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	controllerNamespace = "ingress-nginx"
	configName          = "ingress-nginx-controller"
)

// configs are the variants of the controller's ConfigMap; the seed chooses one.
var configs = []struct {
	Name string // as docs/corpus.md lists it
	data map[string]string
}{
	{"defaults", nil},
	{"behind a load balancer", map[string]string{
		"use-forwarded-headers": "true", "compute-full-forwarded-for": "true", "proxy-real-ip-cidr": "10.0.0.0/8,172.16.0.0/12",
		"enable-real-ip": "true",
	}},
	{"hardened", map[string]string{
		"hsts": "true", "hsts-include-subdomains": "true", "hsts-max-age": "31536000", "hsts-preload": "true",
		"ssl-protocols": "TLSv1.2 TLSv1.3", "server-tokens": "false", "hide-headers": "X-Powered-By,Server",
		"client-header-timeout": "15", "client-body-timeout": "15", "add-headers": controllerNamespace + "/security-headers",
	}},
	{"tuned", map[string]string{
		"keep-alive": "120", "keep-alive-requests": "10000", "upstream-keepalive-connections": "1000", "upstream-keepalive-requests": "10000",
		"max-worker-connections": "65536", "worker-shutdown-timeout": "60s", "proxy-body-size": "20m", "proxy-buffer-size": "16k",
		"use-gzip": "true", "gzip-level": "5", "load-balance": "ewma", "reuse-port": "true",
	}},
	{"logs in JSON", map[string]string{
		"log-format-escape-json": "true",
		"log-format-upstream":    `{"time":"$time_iso8601","host":"$host","status":$status,"request":"$request","upstream":"$upstream_addr","took":$request_time}`,
		"generate-request-id":    "true", "skip-access-log-urls": "/healthz,/ready",
	}},
	{"own errors and headers", map[string]string{
		"custom-http-errors": "502,503", "proxy-set-headers": controllerNamespace + "/proxy-headers", "server-snippet": "server_name_in_redirect off;\n",
		"http-snippet": "map $http_x_tenant $tenant {\n  default none;\n  ~^[a-z]+$ $http_x_tenant;\n}\n",
	}},
}

// permitted has the keys that permit all annotations of the cluster.
var permitted = map[string]string{
	"allow-snippet-annotations":       "true",
	"annotations-risk-level":          "Critical",
	"global-allowed-response-headers": "X-Frame-Options,X-Robots-Tag",
}

// addConfig adds the controller's own objects, and the flags that name them.
func (g *generator) addConfig() {
	chosen := configs[g.seed%uint64(len(configs))]
	data := maps.Clone(permitted)
	maps.Copy(data, chosen.data)
	own := []*corev1.ConfigMap{newConfigMap(controllerNamespace, configName, data)}
	g.flags = append(g.flags, "--configmap="+controllerNamespace+"/"+configName)
	if data["add-headers"] != "" {
		own = append(own, newConfigMap(controllerNamespace, "security-headers", map[string]string{"Referrer-Policy": "no-referrer", "X-XSS-Protection": "0"}))
	}
	if data["proxy-set-headers"] != "" {
		own = append(own, newConfigMap(controllerNamespace, "proxy-headers", map[string]string{"X-Cluster": "production", "X-Request-Start": "t=${msec}"}))
	}
	for _, one := range own {
		g.first = append(g.first, one)
	}
	g.addDefaultBackend()
	if g.size >= streamSize {
		g.addStreams()
	}
}

// addDefaultBackend adds a default backend to half of the clusters.
func (g *generator) addDefaultBackend() {
	if !percent(g.chance, 50) {
		return
	}
	service := g.newService(controllerNamespace, "default-backend", 80)
	g.add(service)
	g.addSlice(service, 2, func() bool { return true })
	g.flags = append(g.flags, "--default-backend-service="+controllerNamespace+"/default-backend")
}

// streamSize is the size from which clusters serve TCP and UDP.
const streamSize = 100

func (g *generator) addStreams() {
	data := map[corev1.Protocol]map[string]string{corev1.ProtocolTCP: {}, corev1.ProtocolUDP: {}}
	for _, one := range []struct {
		name     string
		protocol corev1.Protocol
		port     int32
	}{{"postgres", corev1.ProtocolTCP, 5432}, {"mqtt", corev1.ProtocolTCP, 1883}, {"syslog", corev1.ProtocolUDP, 5514}} {
		service := g.newService("streams", one.name, one.port)
		service.Spec.Ports[0] = corev1.ServicePort{Name: one.name, Port: one.port, TargetPort: intstr.FromInt32(one.port), Protocol: one.protocol}
		g.add(service)
		g.addSlice(service, 2, func() bool { return true })
		data[one.protocol][fmt.Sprint(one.port)] = fmt.Sprintf("streams/%s:%d", one.name, one.port)
	}
	g.first = append(g.first, newConfigMap(controllerNamespace, "tcp-services", data[corev1.ProtocolTCP]), newConfigMap(controllerNamespace, "udp-services", data[corev1.ProtocolUDP]))
	g.flags = append(g.flags, "--tcp-services-configmap="+controllerNamespace+"/tcp-services", "--udp-services-configmap="+controllerNamespace+"/udp-services")
}
