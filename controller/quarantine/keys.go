package quarantine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
)

// refusedKey is a key of the controller's ConfigMap in quarantine. A nil value means that the
// ConfigMap lacks the key.
type refusedKey struct {
	refusals
	value *string
	// closed means that the key has no safe replacement: the previous value may admit clients that
	// this value denies, or there is no previous value.
	closed bool
}

// gates are the keys that decide which ingresses and annotations are accepted. If nginx refuses
// something that they admit, the ingress is at fault, not the key.
var gates = []string{
	"allow-cross-namespace-resources", "allow-snippet-annotations", "annotation-value-word-blocklist",
	"annotations-risk-level", "global-allowed-response-headers", "strict-validate-path-type",
}

// snippetKeys are the keys whose values are snippets.
var snippetKeys = []string{"main-snippet", "http-snippet", "server-snippet", "location-snippet", "stream-snippet"}

// protectingKeys are the keys that restrict access, determine the client's identity, or decide what
// passes between client, nginx and pods. Every new key of ingress-nginx must be added here or to
// harmlessKeys; a key in neither counts as protecting.
var protectingKeys = words(`
	ssl-protocols ssl-ciphers ssl-ecdh-curve ssl-early-data ssl-reject-handshake ssl-session-tickets ssl-session-ticket-key ssl-dh-param enable-ocsp
	proxy-ssl-location-only ssl-redirect force-ssl-redirect no-tls-redirect-locations hsts hsts-include-subdomains hsts-max-age hsts-preload
	use-forwarded-headers compute-full-forwarded-for forwarded-for-proxy-protocol-header forwarded-host-header forwarded-for-header enable-real-ip
	use-proxy-protocol proxy-real-ip-cidr use-geoip2 bind-address
	whitelist-source-range denylist-source-range block-cidrs block-user-agents block-referers limit-conn-zone-variable limit-rate limit-rate-after
	limit-req-status-code limit-conn-status-code
	global-auth-url global-auth-method global-auth-signin global-auth-signin-redirect-param global-auth-response-headers global-auth-request-redirect
	global-auth-snippet global-auth-cache-key global-auth-cache-duration global-auth-always-set-cookie no-auth-locations
	custom-http-errors disable-proxy-intercept-errors proxy-set-headers hide-headers enable-underscores-in-headers ignore-invalid-headers
	enable-modsecurity enable-owasp-modsecurity-crs modsecurity-snippet nginx-status-ipv4-whitelist nginx-status-ipv6-whitelist`)

var harmlessKeys = words(`
	worker-processes worker-cpu-affinity worker-shutdown-timeout max-worker-connections max-worker-open-files enable-multi-accept enable-aio-write
	reuse-port disable-ipv6 disable-ipv6-dns debug-connections enable-serial-reloads keep-alive keep-alive-requests client-header-buffer-size
	client-header-timeout client-body-buffer-size client-body-timeout large-client-header-buffers use-http2 http2-max-concurrent-streams
	http2-max-field-size http2-max-header-size http2-max-requests grpc-buffer-size-kb server-tokens default-type generate-request-id relative-redirects
	map-hash-bucket-size server-name-hash-max-size server-name-hash-bucket-size proxy-headers-hash-max-size proxy-headers-hash-bucket-size
	variables-hash-bucket-size variables-hash-max-size access-log-path http-access-log-path access-log-params disable-access-log
	disable-http-access-log enable-auth-access-log enable-access-log-for-default-backend skip-access-log-urls error-log-path error-log-level
	log-format-escape-json log-format-escape-none log-format-upstream enable-syslog syslog-host syslog-port
	use-gzip gzip-level gzip-min-length gzip-disable gzip-types enable-brotli brotli-level brotli-min-length brotli-types
	ssl-buffer-size ssl-session-cache ssl-session-cache-size ssl-session-timeout preserve-trailing-slash use-port-in-redirects http-redirect-code
	proxy-protocol-header-timeout proxy-add-original-uri-header geoip2-autoreload-in-minutes
	upstream-keepalive-connections upstream-keepalive-time upstream-keepalive-timeout upstream-keepalive-requests load-balance
	proxy-body-size proxy-connect-timeout proxy-read-timeout proxy-send-timeout proxy-buffers-number proxy-buffer-size proxy-busy-buffers-size
	proxy-buffering proxy-request-buffering proxy-max-temp-file-size proxy-http-version proxy-cookie-domain proxy-cookie-path proxy-redirect-from
	proxy-redirect-to proxy-next-upstream proxy-next-upstream-timeout proxy-next-upstream-tries retry-non-idempotent service-upstream
	add-headers allow-backend-server-header
	enable-opentelemetry opentelemetry-config opentelemetry-operation-name opentelemetry-trust-incoming-span otlp-collector-host otlp-collector-port
	otel-service-name otel-sampler otel-sampler-ratio otel-sampler-parent-based otel-max-queuesize otel-schedule-delay-millis otel-max-export-batch-size
	zipkin-collector-host zipkin-collector-port zipkin-service-name zipkin-sample-rate jaeger-collector-host jaeger-collector-port jaeger-endpoint
	jaeger-service-name jaeger-propagation-format jaeger-sampler-type jaeger-sampler-param jaeger-sampler-host jaeger-sampler-port
	jaeger-trace-context-header-name jaeger-debug-header jaeger-baggage-header jaeger-trace-baggage-header-prefix
	datadog-collector-host datadog-collector-port datadog-service-name datadog-environment datadog-operation-name-override datadog-sample-rate
	proxy-stream-timeout proxy-stream-next-upstream proxy-stream-next-upstream-timeout proxy-stream-next-upstream-tries proxy-stream-responses
	disable-stream-access-log stream-access-log-path log-format-stream lua-shared-dicts
	upstream-hash-by upstream-hash-by-subset upstream-hash-by-subset-size app-root`)

// keyLacks reports whether an earlier value of a key may protect less than the wanted one.
func keyLacks(key string, earlier, wanted *string) bool {
	switch {
	case harmlessKeys[key] || equal(earlier, wanted):
		return false
	case slices.Contains(snippetKeys, key):
		return snippetLacks(text(earlier), text(wanted))
	}
	return true
}

// closesKey reports whether a key's value has no safe replacement.
func (q *Quarantine) closesKey(key string, value *string) bool {
	before := valueOf(q.taken, key)
	return !q.ever || equal(before, value) || keyLacks(key, before, value)
}

// insteadOfKey returns the value that replaces the wanted one.
func (q *Quarantine) insteadOfKey(key string) *string {
	before := valueOf(q.taken, key)
	if one := q.keys[key]; one != nil && equal(one.value, before) || one == nil && equal(valueOf(dataOf(q.seen, q.ConfigMap), key), before) {
		return nil // nginx refuses a value that it accepted before
	}
	return before
}

// keysOf returns the keys that may need a replacement: those of the ConfigMap and those in
// quarantine.
func (q *Quarantine) keysOf(cluster snapshot.Snapshot) map[string]bool {
	all := make(map[string]bool)
	for key := range dataOf(cluster, q.ConfigMap) {
		all[key] = true
	}
	for key := range q.keys {
		all[key] = true
	}
	return all
}

func (one *refusedKey) finding(configMap types.NamespacedName, key string) model.Finding {
	return model.Finding{Object: "ConfigMap " + configMap.String(), Key: key, Reason: one.reasonToPeople()}
}

func (one *refusedKey) reasonToPeople() string {
	switch {
	case !one.refused && one.closed:
		return "it waits to be tested, because nginx refused it or a change made at the same time; until then nginx keeps its configuration"
	case !one.refused:
		return "it waits to be tested, because nginx refused it or a change made at the same time; until then its earlier value is used"
	case one.closed:
		return fmt.Sprintf("nginx refuses it (%s); its earlier value or default might admit clients that it denies, so nginx keeps its configuration until the key is corrected", one.reason)
	case one.value == nil:
		return fmt.Sprintf("nginx refuses the configuration without it (%s); its earlier value is used until it is set again", one.reason)
	}
	return fmt.Sprintf("nginx refuses it (%s); its earlier value, or its default, is used until it changes", one.reason)
}

// changedKeys returns the keys with current values that nginx has not accepted, sorted.
func (q *Quarantine) changedKeys(data map[string]string) []string {
	all := maps.Clone(q.taken)
	if all == nil {
		all = make(map[string]string)
	}
	maps.Copy(all, data)
	var keys []string
	for _, key := range suspicious(maps.Keys(all)) {
		if q.keys[key] == nil && !equal(valueOf(data, key), valueOf(q.taken, key)) {
			keys = append(keys, key)
		}
	}
	return keys
}

// withKeys returns a copy of the cluster with changed values in a ConfigMap; nil removes a key.
func withKeys(cluster snapshot.Snapshot, name types.NamespacedName, values map[string]*string) snapshot.Snapshot {
	changed := &corev1.ConfigMap{Data: make(map[string]string)}
	if config := cluster.ConfigMaps[name]; config != nil {
		changed.ObjectMeta = config.ObjectMeta
		maps.Copy(changed.Data, config.Data)
	}
	for key, value := range values {
		if value == nil {
			delete(changed.Data, key)
		} else {
			changed.Data[key] = *value
		}
	}
	others := maps.Clone(cluster.ConfigMaps)
	if others == nil {
		others = make(map[types.NamespacedName]*corev1.ConfigMap)
	}
	others[name] = changed
	cluster.ConfigMaps = others
	return cluster
}

// dataOf returns the data of a ConfigMap, or nil if it does not exist.
func dataOf(cluster snapshot.Snapshot, name types.NamespacedName) map[string]string {
	if config := cluster.ConfigMaps[name]; config != nil {
		return config.Data
	}
	return nil
}

func valueOf(data map[string]string, key string) *string {
	if value, ok := data[key]; ok {
		return &value
	}
	return nil
}

func equal(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

func text(value *string) string {
	if value == nil {
		return ""
	}
	return strings.TrimSpace(*value)
}
