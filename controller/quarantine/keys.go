package quarantine

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// refusedKey is a key of the controller's ConfigMap in quarantine. A nil value means that the
// ConfigMap lacks the key.
type refusedKey struct {
	rejections
	value *string
	// closed means that the key has no safe replacement: the previous value may admit clients that
	// this value denies, or there is no previous value.
	closed bool
}

// keyLacks reports whether an earlier value of a key may protect less than the wanted one.
func keyLacks(key string, earlier, wanted *string) bool {
	if equal(earlier, wanted) {
		return false
	}
	switch options.ProtectionOf(key) {
	case options.Harmless:
		return false
	case options.Directives:
		return snippetLacks(text(earlier), text(wanted))
	}
	return true
}

// closesKey reports whether a key's value has no safe replacement.
func (q *Quarantine) closesKey(key string, value *string) bool {
	before := valueOf(q.acceptedData, key)
	return !q.ever || equal(before, value) || keyLacks(key, before, value)
}

// insteadOfKey returns the previous value of a key, or nil if nginx now rejects it.
func (q *Quarantine) insteadOfKey(key string) *string {
	before := valueOf(q.acceptedData, key)
	if one := q.keys[key]; one != nil && equal(one.value, before) || one == nil && equal(valueOf(dataOf(q.seen, q.ConfigMap), key), before) {
		return nil // nginx rejects a value that it accepted before
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
	case !one.rejected && one.closed:
		return "it waits to be tested, because nginx rejected it or a change made at the same time; until then nginx keeps its configuration"
	case !one.rejected:
		return "it waits to be tested, because nginx rejected it or a change made at the same time; until then its earlier value is used"
	case one.closed:
		return fmt.Sprintf("nginx rejects it (%s); its earlier value or default might admit clients that it denies, so nginx keeps its configuration until the key is corrected", one.reason)
	case one.value == nil:
		return fmt.Sprintf("nginx rejects the configuration without it (%s); its earlier value is used until it is set again", one.reason)
	}
	return fmt.Sprintf("nginx rejects it (%s); its earlier value, or its default, is used until it changes", one.reason)
}

// changedKeys returns the keys with current values that nginx has not accepted, sorted.
func (q *Quarantine) changedKeys(data map[string]string) []string {
	all := maps.Clone(q.acceptedData)
	if all == nil {
		all = make(map[string]string)
	}
	maps.Copy(all, data)
	var keys []string
	for _, key := range suspicious(maps.Keys(all)) {
		if q.keys[key] == nil && !equal(valueOf(data, key), valueOf(q.acceptedData, key)) {
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
