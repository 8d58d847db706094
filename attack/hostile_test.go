package attack_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
)

// fragments are texts that would end a directive, a block, a string or a comment, and texts that an
// attacker would add after them.
var fragments = []string{
	`"`, `'`, `;`, `{`, `}`, "\n", "\r", "\r\n", "\t", "\v", "\f", "\x00", "\x7f", "\u0085", "\u2028", "\u00a0", "é", "\xff\xfe", `\`, `\\`, `\"`, `\'`, `#`, " # ", `$`, `${`, `${}`, `$}`, "`",
	`; injected on;`, `"; injected on; #`, `'; injected on; #`, "\ninjected on;\n", "\rinjected on;\r", `} injected {`, `}} injected { } server { location / {`, `"} injected on; {"`,
	`;} location /injected { return 200; } #`, `\"; injected on; #`, `\\"; injected on; #`, `$host"; injected on; "`, `${host}"; injected on; "`, `")) injected on; ((`, "x;\r\ninjected on;\r\n#",
	"]] injected on; [[", "--]] injected", "\" } \n injected on; \n { \"", `{ injected on; }`, `(?<injected>.*)`, ` injected on`, `%0ainjected on;`, "//\ninjected on;\n", `;load_module /tmp/injected.so;`,
	`";access_by_lua_block { injected() } #`, "\\\ninjected on;", `a b c`, `../../../injected`, `/../injected`, `injected/../../x`, `$(injected)`, `{{ injected }}`, `<injected>`, `\x22; injected on;`, "\\n injected on;", "\ufeff", "\u202e",
	`=on injected`, `:injected on;`, `|injected`, `&injected`, "'\n\"\ninjected on;", `\u0022; injected on;`, `"" injected on;`, `'' injected on;`, `) injected (`, `);injected on;(`,
}

// hostile returns a value with such fragments in it.
func hostile(random *rand.Rand, base string) string {
	for range 1 + random.IntN(3) {
		at := random.IntN(len(base) + 1)
		switch random.IntN(6) {
		case 0:
			at = 0
		case 1:
			at = len(base)
		}
		base = base[:at] + fragments[random.IntN(len(fragments))] + base[at:]
	}
	if random.IntN(40) == 0 {
		base += strings.Repeat(fragments[random.IntN(len(fragments))], 1+random.IntN(400))
	}
	return base
}

// sample returns a valid value of a key, from which other values are made.
func sample(random *rand.Rand, name string) string {
	if good := samples[name]; len(good) > 0 {
		return good[random.IntN(len(good))]
	}
	return []string{"true", "5", "a", "on", "/a", ""}[random.IntN(6)]
}

// hostileIngress returns an ingress with one or more hostile texts.
func hostileIngress(random *rand.Rand, name string) *networkingv1.Ingress {
	given := make(map[string]string)
	for range 1 + random.IntN(3) {
		key := everyKey[random.IntN(len(everyKey))]
		maps.Copy(given, key.enabled(hostile(random, sample(random, key.Name))))
		if len(key.Aliases) > 0 && random.IntN(2) == 0 {
			given[key.Aliases[0]] = given[key.Name]
		}
	}
	i := ingress(name, given)
	rule := &i.Spec.Rules[0]
	switch random.IntN(16) {
	case 0:
		i.Name = hostile(random, name)
	case 1:
		i.Namespace = hostile(random, namespace)
	case 2:
		i.UID = types.UID(hostile(random, defaultUID))
	case 3:
		rule.Host = hostile(random, rule.Host)
	case 4:
		pathOf(i).Backend.Service.Name = hostile(random, "web")
	case 5:
		pathOf(i).Backend.Service.Port = networkingv1.ServiceBackendPort{Name: hostile(random, "http")}
	case 6:
		i.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{hostile(random, rule.Host)}, SecretName: hostile(random, "ca")}}
	case 7:
		i.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: hostile(random, "web"), Port: networkingv1.ServiceBackendPort{Number: 80}}}
	case 8, 9, 10, 11:
		pathOf(i).Path = hostile(random, "/shop")
	}
	if random.IntN(4) == 0 {
		pathOf(i).PathType = new(networkingv1.PathType(hostile(random, "Exact")))
	}
	if random.IntN(4) == 0 {
		pathOf(i).PathType = new(networkingv1.PathTypeExact)
	}
	return i
}

// everyKey lists all annotations. Snippets are disabled, so they must have no effect.
var everyKey = func() []keyOf {
	var all []keyOf
	for _, family := range annotations.Families() {
		for _, key := range family.Keys {
			all = append(all, keyOf{family.Name, key})
		}
	}
	return all
}()

// hostileCluster returns a cluster with n hostile ingresses and other hostile objects that
// ingresses name, and the number of objects.
func hostileCluster(random *rand.Rand, n int) (c *population, objects int) {
	c = ready()
	for i := range n {
		c.ingresses = append(c.ingresses, hostileIngress(random, fmt.Sprintf("i%d", i)))
	}
	for i := range n / 50 {
		name := fmt.Sprintf("hostile-%d", i)
		c.configMaps = append(c.configMaps, &corev1.ConfigMap{ObjectMeta: named(name), Data: map[string]string{
			hostile(random, "X-A"): "a", "X-B": hostile(random, "b"), "X-C": hostile(random, "$host"),
		}})
		c.services = append(c.services,
			&corev1.Service{ObjectMeta: named(name), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: hostile(random, "a.example"), Ports: []corev1.ServicePort{{Port: 80}}}},
			&corev1.Service{ObjectMeta: named(hostile(random, name)), Spec: corev1.ServiceSpec{ClusterIP: hostile(random, "10.0.0.9"), Ports: []corev1.ServicePort{{Name: hostile(random, "http"), Port: 80}}}})
		meta := named(name)
		if i%2 == 0 {
			meta.UID = types.UID(hostile(random, defaultUID))
		}
		c.secrets = append(c.secrets, &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{
			"auth": []byte(hostile(random, "a:b")), "ca.crt": []byte(hostile(random, "x")), hostile(random, "user"): []byte(hostile(random, "p")),
			"dhparam.pem": []byte(hostile(random, "x")), "ca.crl": []byte(hostile(random, "x")),
		}})
		objects += addNames(random, c, name)
		c.ingresses = append(c.ingresses, ingress("names-"+name, map[string]string{
			"custom-headers": namespace + "/" + name, "auth-url": "http://a.example", "auth-proxy-set-headers": name, "fastcgi-params-configmap": name,
			"backend-protocol": []string{"HTTP", "FCGI", "GRPC"}[i%3], "auth-type": "basic", "auth-secret": name, "auth-secret-type": []string{"auth-file", "auth-map"}[i%2], "service-upstream": "true",
		}))
		pathOf(c.ingresses[len(c.ingresses)-1]).Backend.Service.Name = name
		objects += 5
	}
	c.configMaps = append(c.configMaps, hostilePorts(random, c, "tcp-services"), hostilePorts(random, c, "udp-services"))
	c.config = hostileConfig(random)
	return c, objects + n + 3
}

// addNames adds objects that have hostile names, and ingresses that name them exactly. It returns
// the number of objects.
func addNames(random *rand.Rand, c *population, name string) int {
	service, secret, headers := hostile(random, name), hostile(random, name), hostile(random, name)
	c.services = append(c.services, &corev1.Service{ObjectMeta: named(service), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
		{Name: hostile(random, "http"), Port: 80}, {Port: 80, Protocol: corev1.ProtocolUDP},
	}}})
	c.slices = append(c.slices, &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: service, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		Ports: []discoveryv1.EndpointPort{
			{Port: new(int32(8080)), Protocol: new(corev1.ProtocolTCP), Name: &c.services[len(c.services)-1].Spec.Ports[0].Name},
			{Port: new(int32(8080)), Protocol: new(corev1.ProtocolUDP)},
		},
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.3", hostile(random, "10.0.0.4")}, Zone: new(hostile(random, "z"))}},
	})
	pem := []byte(certificate().PEM)
	c.secrets = append(c.secrets, &corev1.Secret{ObjectMeta: named(secret), Data: map[string][]byte{
		"ca.crt": pem, "tls.crt": pem, "tls.key": pem, "auth": []byte("a:b"),
	}})
	c.configMaps = append(c.configMaps, &corev1.ConfigMap{ObjectMeta: named(headers), Data: map[string]string{"X-B": "b"}})
	for i, given := range []map[string]string{
		{"auth-tls-secret": namespace + "/" + secret, "proxy-ssl-secret": namespace + "/" + secret, "backend-protocol": "HTTPS"},
		{"auth-type": "basic", "auth-secret": secret, "custom-headers": namespace + "/" + headers, "default-backend": service, "custom-http-errors": "404"},
		{"auth-url": "http://a.example", "auth-proxy-set-headers": namespace + "/" + headers, "limit-rps": "1"},
	} {
		one := ingress(fmt.Sprintf("names-%d-%s", i, name), given)
		pathOf(one).Backend.Service.Name = service
		one.Spec.TLS = []networkingv1.IngressTLS{{SecretName: secret}}
		c.ingresses = append(c.ingresses, one)
	}
	return 7
}

// hostilePorts returns a ConfigMap of TCP or UDP services.
func hostilePorts(random *rand.Rand, c *population, name string) *corev1.ConfigMap {
	service := c.services[random.IntN(len(c.services))].Name
	return &corev1.ConfigMap{ObjectMeta: named(name), Data: map[string]string{
		"9000": namespace + "/web:80", hostile(random, "9001"): namespace + "/web:80", "9002": hostile(random, namespace+"/web:80"), "9003": namespace + "/web:80:" + hostile(random, "PROXY"),
		"9004": namespace + "/" + service + ":80", "9005": namespace + "/" + service + ":" + hostile(random, "http"),
	}}
}

// hostileConfig returns the data of the controller's ConfigMap, with hostile values and without
// snippets.
func hostileConfig(random *rand.Rand) map[string]string {
	config := map[string]string{"global-allowed-response-headers": "X-B,X-C", "annotations-risk-level": "Critical"}
	for range random.IntN(12) {
		key := configKeys[random.IntN(len(configKeys))]
		config[key.Name] = hostile(random, key.Default)
	}
	if random.IntN(3) == 0 {
		maps.Copy(config, turnedOn)
	}
	for _, key := range []string{"add-headers", "proxy-set-headers", "ssl-dh-param"} {
		if random.IntN(2) == 0 {
			config[key] = namespace + "/hostile-0"
		}
	}
	return config
}

var configKeys = slices.DeleteFunc(options.Keys(), func(k options.Key) bool {
	return strings.HasSuffix(k.Name, "-snippet") || k.Name == "annotations-risk-level"
})

// turnedOn enables the features that render the texts of the ConfigMap.
var turnedOn = map[string]string{
	"use-gzip": "true", "use-geoip2": "true", "enable-brotli": "true", "enable-modsecurity": "true", "enable-opentelemetry": "true", "use-proxy-protocol": "true",
	"use-forwarded-headers": "true", "compute-full-forwarded-for": "true", "global-auth-url": "http://auth.example/", "use-http2": "false", "disable-ipv6": "true",
}
