package quarantine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/snapshot"
)

// surroundings returns a digest of all objects that an ingress can conflict with in nginx: the
// other ingresses of its hosts, the objects that it names, the controller's ConfigMap, and the
// settings.
func (q *Quarantine) surroundings(ingress *networkingv1.Ingress) string {
	r, cluster := newReader(q.Prefix), q.seen
	sum := sha256.New()
	write := json.NewEncoder(sum)
	note := func(parts ...any) {
		for _, part := range parts {
			_ = write.Encode(part) // cannot fail: plain data is written to a hash
		}
	}
	note(q.settings, dataOf(cluster, q.ConfigMap))
	for _, host := range hostsOf(ingress, r) {
		for _, other := range q.around.of(host, cluster.Ingresses, r) {
			if snapshot.NameOf(other) != snapshot.NameOf(ingress) {
				note(snapshot.NameOf(other), q.around.digest(other, r))
			}
		}
	}
	for _, name := range namesIn(ingress, r) {
		if secret := cluster.Secrets[name]; secret != nil {
			note("Secret", name, secret.Data)
		}
		if config := cluster.ConfigMaps[name]; config != nil {
			note("ConfigMap", name, config.Data)
		}
		if service := cluster.Services[name]; service != nil {
			note("Service", name, service.Spec)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// neighbours are the ingresses of each host, computed on demand.
type neighbours struct {
	byHost          map[string][]*networkingv1.Ingress
	digests, before map[*networkingv1.Ingress]string // digests of the ingresses' specs and annotations
}

func (n *neighbours) of(host string, all []*networkingv1.Ingress, r reader) []*networkingv1.Ingress {
	if n.byHost == nil {
		n.byHost = make(map[string][]*networkingv1.Ingress)
		for _, ingress := range all {
			for _, host := range hostsOf(ingress, r) {
				n.byHost[host] = append(n.byHost[host], ingress)
			}
		}
	}
	return n.byHost[host]
}

func (n *neighbours) digest(ingress *networkingv1.Ingress, r reader) string {
	if n.digests == nil {
		n.digests = make(map[*networkingv1.Ingress]string)
	}
	digest, known := n.digests[ingress]
	if !known {
		if digest, known = n.before[ingress]; !known {
			text, err := json.Marshal([]any{ingress.UID, ingress.Spec, r.ours(ingress)})
			if err != nil {
				text = []byte(err.Error()) // impossible for plain data
			}
			sum := sha256.Sum256(text)
			digest = hex.EncodeToString(sum[:])
		}
		n.digests[ingress] = digest
	}
	return digest
}

// hostsOf returns the hosts of an ingress and their aliases, sorted.
func hostsOf(ingress *networkingv1.Ingress, r reader) []string {
	var hosts []string
	for _, rule := range ingress.Spec.Rules {
		hosts = append(hosts, rule.Host)
	}
	if len(hosts) == 0 {
		hosts = append(hosts, "")
	}
	for alias := range strings.SplitSeq(r.value(ingress, "server-alias"), ",") {
		if alias = strings.TrimSpace(alias); alias != "" {
			hosts = append(hosts, alias)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// namesIn returns the names in the spec and annotations of an ingress that may refer to objects. It
// may return names that refer to none.
func namesIn(ingress *networkingv1.Ingress, r reader) []types.NamespacedName {
	var names []types.NamespacedName
	add := func(text string) {
		namespace, name, both := strings.Cut(strings.TrimSpace(text), "/")
		if !both {
			namespace, name = ingress.Namespace, namespace
		}
		names = append(names, types.NamespacedName{Namespace: namespace, Name: name})
	}
	for _, value := range r.ours(ingress) {
		add(value)
	}
	for _, entry := range ingress.Spec.TLS {
		add(entry.SecretName)
	}
	for _, path := range snapshot.Routes(ingress) {
		if path.Backend.Service != nil {
			add(path.Backend.Service.Name)
		}
	}
	if wanted := ingress.Spec.DefaultBackend; wanted != nil && wanted.Service != nil {
		add(wanted.Service.Name)
	}
	slices.SortFunc(names, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(names)
}
