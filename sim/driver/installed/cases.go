package installed

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/internal/ingresshost"
	"windtunnel.dev/sim/behave"
)

// UnsupportedCase implements driver.Standing.
func (d *Driver) UnsupportedCase(c *behave.Case) string {
	for _, unsupported := range []func(*behave.Case) string{d.lacksFlag, d.lacksModule, d.changesConfig, d.needsListener, d.affectsOthers} {
		if reason := unsupported(c); reason != "" {
			return reason
		}
	}
	return ""
}

// lacksFlag returns a reason if the case has a flag that the controller is not said to have.
func (d *Driver) lacksFlag(c *behave.Case) string {
	for _, name := range slices.Sorted(maps.Keys(c.Flags)) {
		value := c.Flags[name]
		if has, declared := d.Flags[name]; !declared || has != value {
			return fmt.Sprintf("it needs a controller with --%[1]s=%[2]s: if this one has it, say so with --flag %[1]s=%[2]s", name, value)
		}
	}
	return ""
}

// lacksModule returns a reason if the case needs a module that nginx is not said to have.
func (d *Driver) lacksModule(c *behave.Case) string {
	for _, need := range c.Needs {
		if strings.HasPrefix(need, modulePrefix) && !slices.Contains(d.Has, need) {
			return fmt.Sprintf("it needs %[1]s: if nginx has it, say so with --has %[1]s", need)
		}
	}
	return ""
}

// modulePrefix is the start of needs that name a module of nginx.
const modulePrefix = "module/"

// changesConfig returns a reason if the case changes the controller's ConfigMap without permission.
func (d *Driver) changesConfig(c *behave.Case) string {
	changes := len(c.Config) > 0 || slices.ContainsFunc(c.Steps, func(s behave.Step) bool { return s.Config != nil })
	if changes && d.ConfigMap.Name == "" {
		return "it changes the controller's ConfigMap: allow that with --config-map NAMESPACE/NAME"
	}
	return ""
}

// needsListener returns a reason if the case connects in a way that this installation does not have.
func (d *Driver) needsListener(c *behave.Case) string {
	for _, name := range slices.Sorted(maps.Keys(c.Certificates)) {
		if certificate := c.Certificates[name]; (certificate.CAIssuers || certificate.OCSP) && !d.http.Addr().IsLoopback() {
			return "its certificate " + name + " names a URL on this machine, and nginx is not on it"
		}
	}
	for _, step := range c.Steps {
		switch {
		case step.Request.Request == "":
		case step.Target().Scheme == "https" && !d.https.IsValid():
			return "it uses HTTPS: set the address with --url https://HOST"
		case d.http.Addr().IsLoopback():
		case step.From != "":
			return "it chooses the client's address, and nginx is not on this machine"
		case step.IPv6:
			return "it uses IPv6, and nginx is not on this machine"
		}
	}
	return ""
}

// affectsOthers returns a reason if objects of the case may affect requests that are not for it.
func (d *Driver) affectsOthers(c *behave.Case) string {
	if d.CatchAll {
		return ""
	}
	for _, manifest := range c.Manifests {
		reason := ""
		switch manifest.Object.GetKind() {
		case "IngressClass":
			reason = "it has an IngressClass, which may become that of ingresses of others"
		case "Ingress":
			if ingress, err := asIngress(manifest.Object); err == nil {
				reason = reach(ingress)
			}
		}
		if reason != "" {
			return reason + ": allow that with --catch-all"
		}
	}
	return ""
}

// reach returns a reason if an ingress may affect requests for hosts other than its own.
func reach(ingress *networkingv1.Ingress) string {
	if ingress.Spec.DefaultBackend != nil {
		return "its ingress " + ingress.Name + " has a default backend, which may answer requests for hosts of others"
	}
	for _, rule := range ingress.Spec.Rules {
		if rule.Host == "" {
			return "its ingress " + ingress.Name + " has a rule without a host, which applies to requests for hosts of others"
		}
	}
	for _, alias := range ingresshost.Aliases(ingress.Annotations) {
		if strings.HasPrefix(alias, "~") || strings.Contains(alias, "*") {
			return "its ingress " + ingress.Name + " has the alias " + alias + ", which may match hosts of others"
		}
	}
	if annotation(ingress, "stream-snippet") != "" {
		return "its ingress " + ingress.Name + " has a stream-snippet, which applies to the whole of nginx"
	}
	return ""
}

// annotation returns the value of an annotation, whatever its prefix.
func annotation(ingress *networkingv1.Ingress, name string) string {
	for key, value := range ingress.Annotations {
		if strings.HasSuffix(key, "/"+name) {
			return value
		}
	}
	return ""
}
