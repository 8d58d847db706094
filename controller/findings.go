package controller

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// findings are those of one sync.
type findings struct {
	ofOptions []options.Finding
	ofRefused []model.Finding // have had their Event when they were refused
	ofModel   []model.Finding
}

// misconfigured is the reason of Events about findings.
const misconfigured = "Misconfigured"

// tellFindings logs the findings that the last sync did not have, each with a
// Warning on the object that it is about.
func (c *controller) tellFindings(cluster snapshot.Snapshot, found findings) {
	now := make(map[string]bool)
	var objects map[string]runtime.Object
	tell := func(finding model.Finding, event bool) {
		text := finding.String()
		if !c.known[text] && !now[text] {
			c.Log.Warn("finding", "what", text)
			if objects == nil {
				objects = byKindAndName(cluster)
			}
			if object := objects[finding.Object]; event && object != nil {
				c.events.Event(object, corev1.EventTypeWarning, misconfigured, strings.TrimPrefix(text, finding.Object+": "))
			}
		}
		now[text] = true
	}
	for _, finding := range found.ofOptions {
		tell(model.Finding{Object: "ConfigMap " + c.ConfigMap.String(), Reason: finding.String()}, true)
	}
	for _, finding := range found.ofRefused {
		tell(finding, false)
	}
	for _, finding := range found.ofModel {
		tell(finding, true)
	}
	c.known = now
}

// byKindAndName are the objects of a cluster by what findings call them.
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
