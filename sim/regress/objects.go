package regress

import (
	"regexp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/sim/regress/conf"
)

// objects finds the ingresses of a cluster that caused parts of a configuration.
type objects struct{ byHost map[string][]string }

func objectsOf(c Cluster) objects {
	o := objects{byHost: map[string][]string{}}
	source, err := c.Source()
	if err != nil {
		return o // the sides report it
	}
	for _, ingress := range source.Ingresses() {
		for _, host := range hosts(ingress) {
			o.byHost[host] = append(o.byHost[host], "Ingress "+snapshot.NameOf(ingress).String())
		}
	}
	return o
}

func hosts(ingress *networkingv1.Ingress) []string {
	var all []string
	if ingress.Spec.DefaultBackend != nil {
		all = append(all, "_")
	}
	for _, rule := range ingress.Spec.Rules {
		host := strings.ToLower(rule.Host)
		if host == "" {
			host = "_"
		}
		if !slices.Contains(all, host) {
			all = append(all, host)
		}
	}
	return all
}

// around returns the ingress that a directive is about: the one that its location names with
// $namespace and $ingress_name, as templates for ingress-nginx do, or else those of its server's
// host. It returns "" outside of servers.
func (o objects) around(path []*conf.Directive, d *conf.Directive) string {
	blocks := append(slices.Clone(path), d)
	for _, block := range slices.Backward(blocks) {
		switch block.Name {
		case "location":
			if name := named(block.Block); name != "" {
				return name
			}
		case "server":
			for _, inner := range block.Block {
				if inner.Name == "server_name" {
					return o.ofHosts(inner.Args)
				}
			}
		}
	}
	return ""
}

func named(location []*conf.Directive) string {
	values := map[string]string{}
	for _, d := range location {
		if d.Name == "set" && len(d.Args) == 2 {
			values[d.Args[0]] = d.Args[1]
		}
	}
	if values["$ingress_name"] == "" {
		return ""
	}
	return "Ingress " + values["$namespace"] + "/" + values["$ingress_name"]
}

func (o objects) ofHosts(names []string) string {
	for _, name := range names {
		if all := o.byHost[name]; len(all) > 0 {
			return strings.Join(all, ", ")
		}
	}
	return ""
}

var (
	setsName   = regexp.MustCompile(`^\s*set \$ingress_name\s+"?([^";]+)"?;`)
	setsSpace  = regexp.MustCompile(`^\s*set \$namespace\s+"?([^";]+)"?;`)
	namesHosts = regexp.MustCompile(`^\s*server_name\s+([^;]+);`)
	closesHTTP = regexp.MustCompile(`^}`)
)

// before returns the object that the last of some lines of a configuration is about. The configuration
// need not be valid, but must be indented with one tab for each block.
func (o objects) before(lines []string) string {
	name, depth := "", len(lines[len(lines)-1])
	depth -= len(strings.TrimLeft(lines[len(lines)-1], "\t"))
	for _, line := range slices.Backward(lines) {
		if len(line)-len(strings.TrimLeft(line, "\t")) > depth {
			continue // within another block
		}
		if found := setsName.FindStringSubmatch(line); found != nil && name == "" {
			name = found[1]
		}
		if found := setsSpace.FindStringSubmatch(line); found != nil && name != "" {
			return "Ingress " + found[1] + "/" + name
		}
		if found := namesHosts.FindStringSubmatch(line); found != nil {
			return o.ofHosts(strings.Fields(strings.ReplaceAll(found[1], `"`, "")))
		}
		if closesHTTP.MatchString(line) {
			return ""
		}
	}
	return ""
}
