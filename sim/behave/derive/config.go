package derive

import (
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/internal/regexample"
)

// ofMachine maps the keys of the ConfigMap that cases omit to the reasons: they concern the
// machine, or something that a simulated cluster lacks.
var ofMachine = map[string]string{
	"bind-address":                 "the driver sets it",
	"worker-processes":             "a run needs one worker",
	"worker-cpu-affinity":          "a run needs one worker",
	"access-log-path":              "it is about logs",
	"http-access-log-path":         "it is about logs",
	"stream-access-log-path":       "it is about logs",
	"error-log-path":               "it is about logs",
	"enable-syslog":                "it is about logs",
	"syslog-host":                  "it is about logs",
	"syslog-port":                  "it is about logs",
	"service-upstream":             "the cluster IPs of services are not routable in a simulated cluster",
	"ssl-dh-param":                 "its Secret is not copied",
	"enable-modsecurity":           "it needs a module of nginx",
	"enable-owasp-modsecurity-crs": "it needs a module of nginx",
	"modsecurity-snippet":          "it needs a module of nginx",
	"enable-opentelemetry":         "it needs a module of nginx",
	"opentelemetry-config":         "it needs a module of nginx",
	"use-geoip2":                   "it needs databases",
	"enable-brotli":                "it needs a module of nginx",
	"brotli-level":                 "it needs a module of nginx",
	"brotli-min-length":            "it needs a module of nginx",
	"brotli-types":                 "it needs a module of nginx",
}

// everywhere are the keys whose effect shows in every answer, so that they need no questions.
var everywhere = []string{
	"add-headers", "allow-snippet-annotations", "annotations-risk-level", "compute-full-forwarded-for", "enable-real-ip", "force-ssl-redirect", "forwarded-for-header",
	"generate-request-id", "hide-headers", "hsts", "hsts-include-subdomains", "hsts-max-age", "hsts-preload", "http-redirect-code", "proxy-http-version",
	"proxy-set-headers", "proxy-real-ip-cidr", "server-tokens", "ssl-redirect", "strict-validate-path-type", "use-proxy-protocol", "no-tls-redirect-locations",
	"http-snippet", "server-snippet", "location-snippet", "proxy-add-original-uri-header", "allow-cross-namespace-resources", "global-allowed-response-headers",
	"annotation-value-word-blocklist", "whitelist-source-range", "denylist-source-range", "use-forwarded-headers",
}

// usable returns the data of the controller's ConfigMap without what a case cannot have.
func usable(data map[string]string, o Options, notes *notes) map[string]string {
	kept := map[string]string{}
	for name, value := range data {
		why, machine := ofMachine[name]
		_, asked := configTopics[name]
		switch {
		case machine:
			notes.add("config/"+name, "left out: "+why, "")
		case o.Known.Config != nil && !slices.Contains(o.Known.Config, name):
			notes.add("config/"+name, "left out: the bundled controller does not support it", "")
		case !asked && !slices.Contains(everywhere, name):
			notes.add("config/"+name, "not tested by itself; all requests are sent with it", "")
			fallthrough
		default:
			kept[name] = value
		}
	}
	return kept
}

// objectsInConfig are the keys that name ConfigMaps, as namespace/name.
var objectsInConfig = []string{"add-headers", "proxy-set-headers"}

// globalAuthService is the name of the service that replaces one outside the cluster.
const globalAuthService = "windtunnel-global-auth"

// localConfig replaces the names of objects in the ConfigMap by their names in the case.
func (b *builder) localConfig() {
	for _, name := range objectsInConfig {
		namespace, object, ok := strings.Cut(b.config[name], "/")
		if !ok {
			continue
		}
		at := key{Namespace: namespace, Name: object}
		b.configMaps[at] = true
		b.config[name] = b.namespace(namespace) + "/" + object
	}
	if url := b.config["global-auth-url"]; url != "" {
		b.config["global-auth-url"] = b.localURL(b.ingresses[0].Namespace, url, globalAuthService)
	}
}

// configTopics maps the keys of the ConfigMap that are asked about to the functions that ask.
var configTopics = map[string]func(*asker){
	"block-referers":                askBlocked("Referer"),
	"block-user-agents":             askBlocked("User-Agent"),
	"custom-http-errors":            askConfigErrors,
	"global-auth-url":               askGlobalAuth,
	"gzip-types":                    askGzip,
	"proxy-body-size":               func(a *asker) { a.bodies(a.config["proxy-body-size"], "config/proxy-body-size") },
	"use-gzip":                      askGzip,
	"use-http2":                     askHTTP2,
	"enable-underscores-in-headers": askUnderscores,
	"ignore-invalid-headers":        askUnderscores,
	"ssl-protocols":                 askProtocols,
	"ssl-ciphers":                   askCiphers,
}

// askConfig asks what the keys of the ConfigMap do, on the first path whose ingress has no annotations
// that could hide it.
func (b *builder) askConfig() {
	s, p := b.plainest()
	for _, name := range slices.Sorted(maps.Keys(b.config)) {
		ask, is := configTopics[name]
		switch {
		case !is:
		case p == nil:
			b.notes.add("config/"+name, "not tested: there is no path to request", "")
		default:
			ask(&asker{builder: b, site: s, path: p, i: p.ingress, about: []string{"config/" + name}})
		}
	}
}

// plainest returns the path of the ingress with the fewest annotations.
func (b *builder) plainest() (*site, *path) {
	var bestSite *site
	var best *path
	for _, s := range b.sites {
		for _, p := range s.paths {
			if _, ok := p.asked(); ok && !p.grpc() && (best == nil || len(p.annots) < len(best.annots)) {
				bestSite, best = s, p
			}
		}
	}
	return bestSite, best
}

// askBlocked asks with values of a header that are blocked.
func askBlocked(header string) func(*asker) {
	return func(a *asker) {
		for _, blocked := range list(a.config[strings.TrimPrefix(a.about[0], "config/")]) {
			text := strings.TrimPrefix(strings.TrimPrefix(blocked, "~"), "*")
			if text != blocked {
				var ok bool
				if text, ok = regexample.Of(text); !ok {
					continue
				}
			}
			a.get(a.target()).header(header, text)
		}
		a.get(a.target()).header(header, word)
	}
}

func askConfigErrors(a *asker) {
	if a.i.has("custom-http-errors") {
		return
	}
	with := *a.i
	with.annots = map[string]string{"custom-http-errors": a.config["custom-http-errors"]}
	about := *a
	about.i = &with
	askErrors(&about)
}

func askGlobalAuth(a *asker) {
	to, rest, ok := a.called(a.ingresses[0].Namespace, a.cluster.config["global-auth-url"], globalAuthService)
	if !ok {
		a.notes.add("config/global-auth-url", "not tested: its host is a variable", "")
		return
	}
	a.authenticate(to, rest, list(a.config["global-auth-response-headers"]), a.config["global-auth-cache-key"] != "")
}

// askGzip asks for an answer that is large enough to be compressed.
func askGzip(a *asker) {
	q := a.get(a.target()).header("Accept-Encoding", "gzip")
	q.look.answer = []string{"Content-Encoding", "Vary"}
}

func askHTTP2(a *asker) {
	q := a.ask("GET", "https", a.site.host, a.target())
	q.step.HTTP = "2"
}

func askUnderscores(a *asker) {
	q := a.get(a.target()).header("X_Windtunnel", word)
	q.look.pod = []string{"X_Windtunnel"}
}

// askProtocols asks with each version of TLS.
func askProtocols(a *asker) {
	for _, version := range []string{"1.1", "1.2", "1.3"} {
		q := a.ask("GET", "https", a.site.host, a.target())
		q.step.TLS.Min, q.step.TLS.Max = version, version
	}
}
