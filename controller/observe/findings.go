package observe

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
)

// misconfigured is the reason of Events about findings.
const misconfigured = "Misconfigured"

// Findings logs the findings that are new since the last sync. Each new one in others also becomes
// a Warning on its object. Objects in quarantine get their Warning from Verdict.
func (o *Observer) Findings(cluster snapshot.Snapshot, quarantined, others []model.Finding) {
	now := make(map[string]bool)
	var objects map[string]runtime.Object
	news := func(finding model.Finding) bool {
		text := finding.String()
		isNews := !o.known[text] && !now[text]
		now[text] = true
		if isNews {
			o.Log.Warn("finding", "what", text)
		}
		return isNews
	}
	for _, finding := range quarantined {
		news(finding)
	}
	for _, finding := range others {
		if !news(finding) {
			continue
		}
		if objects == nil {
			objects = byKindAndName(cluster)
		}
		if object := objects[finding.Object]; object != nil {
			o.Events.Event(object, corev1.EventTypeWarning, misconfigured, strings.TrimPrefix(finding.String(), finding.Object+": "))
		}
	}
	o.known = now
}

// byKindAndName returns the objects of a cluster, keyed by the names that findings use.
func byKindAndName(cluster snapshot.Snapshot) map[string]runtime.Object {
	objects := make(map[string]runtime.Object)
	for _, ingress := range cluster.Ingresses {
		objects["Ingress "+snapshot.NameOf(ingress).String()] = ingress
	}
	for name, service := range cluster.Services {
		objects["Service "+name.String()] = service
	}
	for name, secret := range cluster.Secrets {
		objects["Secret "+name.String()] = secret
	}
	for name, config := range cluster.ConfigMaps {
		objects["ConfigMap "+name.String()] = config
	}
	return objects
}
