package observe

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/permission"
)

// portForwards returns the permission to reach ports on the loopback interfaces of the controller's pods.
func (o Options) portForwards() permission.Permission {
	return permission.Permission{Verb: "create", Resource: "pods/portforward", Namespace: o.Namespace}
}

// ephemerals returns the permissions to add an ephemeral container, and to read its output.
func (o Options) ephemerals() []permission.Permission {
	return []permission.Permission{
		{Verb: "update", Resource: "pods/ephemeralcontainers", Namespace: o.Namespace},
		{Verb: "get", Resource: "pods", Namespace: o.Namespace},
		{Verb: "get", Resource: "pods/log", Namespace: o.Namespace},
	}
}

// permissions returns the permissions that the observation uses. deploy/observe has roles with all of them.
func (o Options) permissions() []permission.Permission {
	all := slices.Concat(
		permission.To("", "services", "list", "watch"),
		permission.To("discovery.k8s.io", "endpointslices", "list", "watch"),
		permission.To("networking.k8s.io", "ingresses", "list", "watch"),
	)
	if len(o.MetricsURLs) == 0 {
		all = append(all,
			permission.Permission{Verb: "list", Resource: "pods", Namespace: o.Namespace},
			permission.Permission{Verb: "get", Resource: "pods/proxy", Namespace: o.Namespace},
			o.portForwards(),
		)
	}
	if o.Ephemeral != "" {
		all = append(all, o.ephemerals()...)
	}
	return all
}

// Sight describes what an observation can see, and what it cannot.
type Sight struct {
	Rows          []Row
	NotApplicable []event.NotApplicable // the measurements that are not possible
	Metrics       bool                  // all controllers expose metrics

	forbidden []permission.Permission
}

// Row describes whether and how something is observed.
type Row struct {
	What string // such as "reloads"
	From string // the source; "" if it is not observed
	Why  string // why it is not observed, or what limits it
}

func (s *Sight) may(p permission.Permission) bool { return !slices.Contains(s.forbidden, p) }

// never are the measurements that no observation has.
var never = event.NotApplicable{
	Measurements: []string{"posts", "syncs", "start", "probe", "converge.way", "certificates", "requests.departed", "trend.nginxFiles", "trend.controllerFiles"},
	Why:          "an observation does not read the controller's log, Secrets or the pods of the services",
}

// look sets the sight, after the controllers were scraped once.
func (ob *observation) look() {
	ob.sight.NotApplicable = []event.NotApplicable{never}
	ob.lookAtChanges()
	ob.lookAtProcesses()
	ob.lookAtMetrics()
	ob.lookAtHosts()
}

func (ob *observation) row(what, from, why string) {
	ob.sight.Rows = append(ob.sight.Rows, Row{what, from, why})
}

// blind adds a row for something that is not observed, and measurements that do not apply.
func (ob *observation) blind(what, why string, measurements ...string) {
	ob.row(what, "", why)
	ob.sight.NotApplicable = append(ob.sight.NotApplicable, event.NotApplicable{Measurements: measurements, Why: why})
}

// anythingSeen returns an error if nothing is observed but the changes of the cluster.
func (ob *observation) anythingSeen() error {
	asked := len(ob.Hosts) > 0 && (ob.Rate > 0 || ob.ProbeRate > 0 && ob.identified() > 0)
	if ob.Ephemeral != "" || asked {
		return nil
	}
	var why error
	for _, c := range ob.controllers.now() {
		if c.err == nil && (c.last.Memory || c.last.Scrape.Reloads != nil || c.last.Scrape.Nginx != nil) {
			return nil
		}
		why = cmp.Or(why, c.err, errors.New("its metrics lack reloads, memory and requests: start it with --enable-metrics"))
	}
	return fmt.Errorf("the controller cannot be observed: %s: %w; set its metrics endpoint with --metrics-url, or send requests to hosts with --host and --address", ob.controllers.now()[0].name, why)
}

func (ob *observation) lookAtChanges() {
	size := ob.ledger.Size()
	note := "the time of a change starts when the API reports it"
	if len(ob.missing) > 0 {
		note += "; " + ob.missingNamespaces()
	}
	ob.row("changes", fmt.Sprintf("the API: %s with %s and %s", plural.Of(size.Ingresses, "ingress", "ingresses"), plural.Of(size.Services, "service"), plural.Of(size.Pods, "pod")), note)
}

// missingNamespaces says which namespaces do not exist.
func (ob *observation) missingNamespaces() string {
	return fmt.Sprintf("namespaces of --follow that do not exist: %s; their changes count once they are created", strings.Join(ob.missing, ", "))
}

func (ob *observation) lookAtMetrics() {
	var counts, memory, nginx, answers int
	why := ""
	all := ob.controllers.now()
	for _, c := range all {
		if c.err != nil {
			why = fmt.Sprintf("%s does not expose metrics: %v", c.name, c.err)
			continue
		}
		answers++
		if c.last.Scrape.Reloads != nil {
			counts++
		}
		if c.last.Memory {
			memory++
		}
		if c.last.Scrape.Nginx != nil {
			nginx++
		}
	}
	ob.sight.Metrics = answers == len(all)
	if why == "" {
		why = "the metrics of the controller lack them: start it with --enable-metrics"
	}
	from := fmt.Sprintf("the metrics of %s, every %v", plural.Of(len(all), "controller"), ob.Every)
	switch {
	case counts == len(all):
		ob.row("reloads", from, "")
	case ob.Ephemeral == "":
		ob.blind("reloads", why, "reloads")
	}
	switch {
	case memory == len(all):
		ob.row("memory and CPU", from, "")
	case ob.Ephemeral == "":
		ob.blind("memory and CPU", why, "memory", "trend", "cpu")
	}
	if nginx == len(all) {
		ob.row("requests of all clients", from+", or nginx's status page", "")
	} else {
		ob.row("requests of all clients", "", "neither the metrics nor nginx's status page report them")
	}
}

func (ob *observation) lookAtProcesses() {
	if ob.Ephemeral == "" {
		ob.blind("generations and workers", "processes can be observed only from an ephemeral container (--ephemeral)", "workers", "trend.nginxPSS", "memory.peakPSS", "memory.startPSS", "memory.endPSS")
		return
	}
	for _, p := range ob.ephemerals() {
		if !ob.sight.may(p) {
			ob.blind("generations and workers", "the user may not "+p.String(), "workers")
			ob.Ephemeral = ""
			return
		}
	}
	ob.row("generations and workers", "an ephemeral container in each pod of a controller", "")
}

func (ob *observation) lookAtHosts() {
	const noHosts = "no host is given (--host)"
	switch {
	case len(ob.Hosts) == 0:
		ob.blind("failed requests, latency", noHosts, "requests", "lanes", "outage", "balance")
	case ob.Rate == 0:
		ob.blind("failed requests, latency", "no requests are sent (--rate=0)", "requests", "lanes", "outage", "balance")
	default:
		ob.row("failed requests, latency", fmt.Sprintf("%v requests/s in each of the lanes %s", ob.Rate, strings.Join(ob.Lanes, ", ")), "")
	}
	measurements := []string{"converge", "changes.converged", "changes.unconverged", "changes.superseded"}
	switch {
	case len(ob.Hosts) == 0:
		ob.blind("convergence", noHosts, measurements...)
	case ob.identified() == 0:
		ob.blind("convergence", "no answer names the pod that sent it (--pod-header)", measurements...)
	case ob.ProbeRate == 0:
		ob.blind("convergence", "no probes are sent (--probe-rate=0)", measurements...)
	default:
		ob.row("convergence", fmt.Sprintf("the answers of %d of %s, %v requests/s while a change is open", ob.identified(), plural.Of(len(ob.Hosts), "host"), ob.ProbeRate),
			"a worker that no request reaches may serve the old state for longer")
	}
}
