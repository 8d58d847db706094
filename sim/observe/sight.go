package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/event"
)

// permission is something that an observation does. deploy/observe has roles with all of them.
type permission struct {
	verb, group, resource, subresource string
	inNamespace                        bool // only in that of the controller
}

// portForwards is the permission to reach ports on a pod's loopback interface.
var portForwards = permission{"create", "", "pods", "portforward", true}

// ephemerals are the permissions to add an ephemeral container, and to read what it prints.
var ephemerals = []permission{
	{"update", "", "pods", "ephemeralcontainers", true},
	{"get", "", "pods", "", true},
	{"get", "", "pods", "log", true},
}

func (ob *observation) permissions() []permission {
	var all []permission
	for _, resource := range []permission{{group: "", resource: "services"}, {group: "discovery.k8s.io", resource: "endpointslices"}, {group: "networking.k8s.io", resource: "ingresses"}} {
		for _, verb := range []string{"list", "watch"} {
			all = append(all, permission{verb: verb, group: resource.group, resource: resource.resource})
		}
	}
	if len(ob.MetricsURLs) == 0 {
		all = append(all, permission{"list", "", "pods", "", true}, permission{"get", "", "pods", "proxy", true}, portForwards)
	}
	if ob.Ephemeral != "" {
		all = append(all, ephemerals...)
	}
	return all
}

// missingPermissions asks the API which permissions are missing. Where that cannot be asked, none is: what
// is forbidden then shows itself.
func (ob *observation) missingPermissions(ctx context.Context) []permission {
	var mu sync.Mutex
	var missing []permission
	var questions errgroup.Group
	questions.SetLimit(8)
	for _, p := range ob.permissions() {
		questions.Go(func() error {
			review, err := ob.client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, ob.review(p), metav1.CreateOptions{})
			if err == nil && !review.Status.Allowed {
				mu.Lock()
				defer mu.Unlock()
				missing = append(missing, p)
			}
			return nil
		})
	}
	_ = questions.Wait() // no error
	slices.SortFunc(missing, func(a, b permission) int { return strings.Compare(a.String(), b.String()) })
	return missing
}

func (ob *observation) review(p permission) *authorizationv1.SelfSubjectAccessReview {
	namespace := ""
	if p.inNamespace {
		namespace = ob.Namespace
	}
	return &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Namespace: namespace, Verb: p.verb, Group: p.group, Resource: p.resource, Subresource: p.subresource,
	}}}
}

// String names the permission as roles do: get pods/proxy.
func (p permission) String() string {
	text := p.verb + " " + p.resource
	if p.subresource != "" {
		text += "/" + p.subresource
	}
	if p.group != "" {
		text += "." + p.group
	}
	return text
}

// Sight is what an observation can see, and what it cannot.
type Sight struct {
	Rows          []Row
	NotApplicable []event.NotApplicable // the measurements that this leaves out
	Metrics       bool                  // all controllers tell their metrics

	forbidden []permission
}

// Row is one thing that can be observed.
type Row struct {
	What string // such as "reloads"
	From string // where it is seen; "" if it is not
	Why  string // it is not seen, or what limits it
}

func (s *Sight) may(p permission) bool { return !slices.Contains(s.forbidden, p) }

// never are the measurements that no observation has.
var never = event.NotApplicable{
	Measurements: []string{"posts", "syncs", "start", "probe", "converge.way", "certificates", "requests.departed", "trend.nginxFiles", "trend.controllerFiles"},
	Why:          "they are in the controller's log, in Secrets or in the pods of the services, which an observation does not read",
}

// look finds out what can be seen, after the controllers were asked once.
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

// blind says that measurements do not apply.
func (ob *observation) blind(what, why string, measurements ...string) {
	ob.row(what, "", why)
	ob.sight.NotApplicable = append(ob.sight.NotApplicable, event.NotApplicable{Measurements: measurements, Why: why})
}

func (ob *observation) lookAtChanges() {
	size := ob.ledger.Size()
	ob.row("changes", fmt.Sprintf("the API: %d ingresses with %d services and %d pods", size.Ingresses, size.Services, size.Pods), "the clock of a change starts when the API tells it")
}

func (ob *observation) lookAtMetrics() {
	var counts, memory, nginx, answers int
	why := ""
	all := ob.controllers.now()
	for _, c := range all {
		if c.err != nil {
			why = fmt.Sprintf("%s does not tell its metrics: %v", c.name, c.err)
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
		why = "the metrics of the controller lack them: is it started with --enable-metrics?"
	}
	from := fmt.Sprintf("the metrics of %d controllers, every %v", len(all), ob.Every)
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
		ob.row("requests of all clients", "", "neither the metrics nor nginx's status page tell them")
	}
}

func (ob *observation) lookAtProcesses() {
	if ob.Ephemeral == "" {
		ob.blind("generations and workers", "the processes are seen only from an ephemeral container (--ephemeral)", "workers", "trend.nginxPSS", "memory.peakPSS", "memory.startPSS", "memory.endPSS")
		return
	}
	for _, p := range ephemerals {
		if !ob.sight.may(p) {
			ob.blind("generations and workers", "the user may not "+p.String(), "workers")
			ob.Ephemeral = ""
			return
		}
	}
	ob.row("generations and workers", "an ephemeral container in each pod of a controller", "")
}

func (ob *observation) lookAtHosts() {
	const noHosts = "no host is named (--host)"
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
		ob.blind("convergence", "no answer of a named host says which pod gave it (--pod-header)", measurements...)
	case ob.ProbeRate == 0:
		ob.blind("convergence", "no probes are sent (--probe-rate=0)", measurements...)
	default:
		ob.row("convergence", fmt.Sprintf("the answers of %d of %d hosts, %v requests/s while a change is open", ob.identified(), len(ob.Hosts), ob.ProbeRate),
			"a worker that no request reaches may serve the old state for longer")
	}
}
