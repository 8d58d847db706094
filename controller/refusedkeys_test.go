package controller

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/snapshot"
)

func TestRefusedKeysUntilTheyChange(t *testing.T) {
	name := types.NamespacedName{Namespace: "demo", Name: "config"}
	cluster := func(data map[string]string) snapshot.Snapshot {
		return snapshot.Snapshot{ConfigMaps: map[types.NamespacedName]*corev1.ConfigMap{name: {Data: data}}}
	}
	text := func(s string) *string { return &s }
	k := refusedKeys{taken: map[string]string{"kept": "1", "changed": "old", "gone": "was", "allow-snippet-annotations": "false"}}
	now := map[string]string{"kept": "1", "changed": "new", "fresh": "bad", "allow-snippet-annotations": "true"}
	if got, want := k.changed(now), []string{"changed", "fresh", "gone"}; !slices.Equal(got, want) {
		t.Errorf("changed: %q, want %q", got, want)
	}
	k.add("changed", refusedKey{text("new"), text("old"), "[emerg] x", false})
	k.add("fresh", refusedKey{text("bad"), nil, "[emerg] y", false})
	k.add("gone", refusedKey{nil, text("was"), "[emerg] z", false})
	given := cluster(now)
	for _, test := range []struct {
		cluster        snapshot.Snapshot
		data, findings string
	}{
		{given, "map[allow-snippet-annotations:true changed:old gone:was kept:1]", "[ConfigMap demo/config: changed: nginx refuses it ([emerg] x); its earlier value holds until it changes " +
			"ConfigMap demo/config: fresh: nginx refuses it ([emerg] y); its default holds until it changes " +
			"ConfigMap demo/config: gone: nginx refuses that it is gone ([emerg] z); its earlier value holds until it is back]"},
		{cluster(map[string]string{"changed": "new", "fresh": "good", "gone": "back"}), "map[changed:old fresh:good gone:back]",
			"[ConfigMap demo/config: changed: nginx refuses it ([emerg] x); its earlier value holds until it changes]"},
		{snapshot.Snapshot{}, "map[]", "[]"}, // the ConfigMap is gone
		{given, "map[allow-snippet-annotations:true changed:new fresh:bad kept:1]", "[]"},
	} {
		effective, findings := k.from(test.cluster, name)
		if got := fmt.Sprint(dataOf(effective, name)); got != test.data {
			t.Errorf("data %s, want %s", got, test.data)
		}
		if got := fmt.Sprint(findings); got != test.findings {
			t.Errorf("findings %s, want %s", got, test.findings)
		}
	}
	if got := given.ConfigMaps[name].Data["changed"]; got != "new" {
		t.Error("the cluster's own ConfigMap was written to")
	}
}
