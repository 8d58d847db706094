package controller

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
)

// refusedKeys are those keys of the controller's ConfigMap that nginx refuses,
// each until it changes.
type refusedKeys struct {
	byName map[string]refusedKey
	ever   bool              // whether nginx has taken any configuration yet
	taken  map[string]string // the ConfigMap's data in the last configuration that nginx took
}

// refusedKey has the values of a key; nil is a ConfigMap without it.
type refusedKey struct {
	value   *string
	instead *string // what nginx took before
	reason  string
	// closed says that nginx took nothing before in whose place the value stands. Its
	// default might let in what the value keeps out, such as the access rules of a
	// server-snippet, so that there is nothing to serve instead.
	closed bool
}

// gates are the keys that say what of ingresses is taken. When nginx refuses
// what they let in, that is to blame and not they.
var gates = []string{
	"allow-cross-namespace-resources", "allow-snippet-annotations", "annotation-value-word-blocklist",
	"annotations-risk-level", "global-allowed-response-headers", "strict-validate-path-type",
}

// from is the cluster with what nginx takes instead of the refused keys of that
// ConfigMap, and a finding for each of them. It forgets those that changed.
func (k *refusedKeys) from(cluster snapshot.Snapshot, name types.NamespacedName) (snapshot.Snapshot, []model.Finding) {
	data := dataOf(cluster, name)
	maps.DeleteFunc(k.byName, func(key string, refused refusedKey) bool { return !equal(valueOf(data, key), refused.value) })
	if len(k.byName) == 0 {
		return cluster, nil
	}
	instead := make(map[string]*string)
	var findings []model.Finding
	for _, key := range slices.Sorted(maps.Keys(k.byName)) {
		instead[key] = k.byName[key].instead
		findings = append(findings, k.byName[key].finding(name, key))
	}
	return withKeys(cluster, name, instead), findings
}

func (r refusedKey) finding(configMap types.NamespacedName, key string) model.Finding {
	reason := "nginx refuses it (%s); its default holds until it changes"
	switch {
	case r.closed:
		reason = "nginx refuses it (%s); as its default might let in what it keeps out, nginx stays as it is until it is mended"
	case r.value == nil:
		reason = "nginx refuses that it is gone (%s); its earlier value holds until it is back"
	case r.instead != nil:
		reason = "nginx refuses it (%s); its earlier value holds until it changes"
	}
	return model.Finding{Object: "ConfigMap " + configMap.String(), Key: key, Reason: fmt.Sprintf(reason, r.reason)}
}

// closed is an error while there is no configuration to serve for want of a key.
func (k *refusedKeys) closed(name types.NamespacedName) error {
	for _, key := range slices.Sorted(maps.Keys(k.byName)) {
		if k.byName[key].closed {
			return fmt.Errorf("no configuration without a key that nginx refuses: %v", k.byName[key].finding(name, key))
		}
	}
	return nil
}

// reopen forgets the closed keys and returns them.
func (k *refusedKeys) reopen() map[string]refusedKey {
	forgotten := make(map[string]refusedKey)
	for key, refused := range k.byName {
		if refused.closed {
			forgotten[key] = refused
			delete(k.byName, key)
		}
	}
	return forgotten
}

func (k *refusedKeys) add(key string, refused refusedKey) {
	if k.byName == nil {
		k.byName = make(map[string]refusedKey)
	}
	k.byName[key] = refused
}

// changed are the keys whose values nginx has not taken as they are.
func (k *refusedKeys) changed(data map[string]string) []string {
	var keys []string
	for key := range data {
		if !equal(valueOf(data, key), valueOf(k.taken, key)) {
			keys = append(keys, key)
		}
	}
	for key := range k.taken {
		if _, still := data[key]; !still {
			keys = append(keys, key)
		}
	}
	return suspicious(keys)
}

// suspicious are the keys whose values nginx reads, sorted.
func suspicious(keys []string) []string {
	keys = slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(gates, key) })
	slices.Sort(keys)
	return keys
}

// withKeys is the cluster with other values in a ConfigMap; nil takes a key away.
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

// dataOf is what a ConfigMap says; nothing if it is not there.
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
