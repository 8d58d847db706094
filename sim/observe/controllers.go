package observe

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/observe/notice"
	"windtunnel.dev/sim/predict/question"
	"windtunnel.dev/sim/subject"
)

const (
	// lookEvery is the time between two searches for new controllers.
	lookEvery = 5 * time.Second
	// scrapePatience is how long a controller may take to answer.
	scrapePatience = 5 * time.Second
)

// controllers are the controllers of the installation.
type controllers struct {
	mu     sync.Mutex
	all    []*controller
	found  *controller // the first one at the beginning; its pod may be gone
	round  sync.Mutex  // one round of scrapes at a time
	inside inside
}

// controller is a pod with a controller, or just its metrics endpoint.
type controller struct {
	name    string // namespace/name, or the URL
	pod     *corev1.Pod
	metrics source
	status  source // nil: not reachable
	failing bool

	last *notice.Sample // nil: it has never answered
	err  error          // of the last scrape
}

// findControllers finds the pods of the controllers.
func (ob *observation) findControllers(ctx context.Context) (*controllers, error) {
	all, err := ob.namedControllers(ctx)
	if err != nil {
		return nil, err
	}
	return &controllers{all: all, found: all[0]}, nil
}

// namedControllers returns the controllers that the user names, at least one.
func (ob *observation) namedControllers(ctx context.Context) (all []*controller, err error) {
	for _, url := range ob.MetricsURLs {
		all = append(all, &controller{name: url, metrics: direct(url)})
	}
	if len(all) > 0 {
		return all, nil
	}
	pods, err := ob.pods(ctx)
	if err != nil {
		return nil, err
	}
	if len(pods) == 0 {
		return nil, fmt.Errorf("no pod in the namespace %s has the labels %s: set the controller's namespace with --namespace, its labels with --selector, or its metrics endpoint with --metrics-url", ob.Namespace, ob.Selector)
	}
	for i := range pods {
		all = append(all, ob.newController(&pods[i]))
	}
	return all, nil
}

// pods returns the pods of controllers that run.
func (ob *observation) pods(ctx context.Context) ([]corev1.Pod, error) {
	list, err := ob.client.CoreV1().Pods(ob.Namespace).List(ctx, metav1.ListOptions{LabelSelector: ob.Selector})
	if err != nil {
		return nil, fmt.Errorf("look for the controller: list the pods of the namespace %s (--namespace) with the labels %s (--selector): %w", ob.Namespace, ob.Selector, err)
	}
	return slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool {
		return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	}), nil
}

func (ob *observation) newController(pod *corev1.Pod) *controller {
	c := &controller{name: pod.Namespace + "/" + pod.Name, pod: pod}
	c.metrics = proxied{ob.client, pod.Namespace, pod.Name, ob.port(ob.MetricsPort, c, "healthz-port", 10254), "metrics"}
	if ob.sight.may(ob.portForwards()) {
		c.status = &forwarded{api: ob.API, namespace: pod.Namespace, pod: pod.Name, port: ob.port(ob.StatusPort, c, "status-port", 10246), path: "/nginx_status"}
	}
	return c
}

// port returns the port that the user names, or the port in the controller's arguments, or the default.
func (ob *observation) port(named int, c *controller, flag string, initial int) int {
	if named != 0 {
		return named
	}
	if port, err := strconv.Atoi(c.flag(flag)); err == nil {
		return port
	}
	return initial
}

// container returns the container of the controller: the first one, if none has its name.
func (c *controller) container() *corev1.Container {
	if c.pod == nil || len(c.pod.Spec.Containers) == 0 {
		return nil
	}
	all := c.pod.Spec.Containers
	if i := slices.IndexFunc(all, func(one corev1.Container) bool { return one.Name == "controller" }); i >= 0 {
		return &all[i]
	}
	return &all[0]
}

// flag returns the value of a flag among the controller's arguments, or "" if there is none.
func (c *controller) flag(name string) (value string) {
	container := c.container()
	if container == nil {
		return ""
	}
	for _, argument := range slices.Concat(container.Command, container.Args) {
		if rest, ok := strings.CutPrefix(argument, "--"+name+"="); ok {
			value = rest
		}
	}
	return value
}

func (cs *controllers) now() []*controller {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return slices.Clone(cs.all)
}

// flags returns the flags of the first controller that matter for predictions.
func (cs *controllers) flags() map[string]string {
	flags := map[string]string{}
	for _, name := range question.Flags() {
		if value := cs.found.flag(name); value != "" {
			flags[name] = value
		}
	}
	return flags
}

// scenarioController returns the name of the controller in scenarios.
func (cs *controllers) scenarioController(bundled bool) string {
	if container := cs.found.container(); container != nil && !bundled {
		return subject.ImagePrefix + container.Image
	}
	return subject.Bundled
}

// first scrapes all controllers once, to find out which metrics they have.
func (cs *controllers) first(ctx context.Context) {
	var group sync.WaitGroup
	for _, c := range cs.now() {
		group.Go(func() { c.ask(ctx, time.Now()) })
	}
	group.Wait()
}

// begin scrapes the controllers at intervals until ctx ends, and searches for new ones.
func (cs *controllers) begin(ctx context.Context, ob *observation, running *sync.WaitGroup) {
	cs.scrape(ctx, ob)
	running.Go(func() { each(ctx, ob.Every, func() { cs.scrape(ctx, ob) }) })
	if len(ob.MetricsURLs) == 0 {
		running.Go(func() { each(ctx, lookEvery, func() { cs.refresh(ctx, ob, running) }) })
	}
	for _, c := range cs.now() {
		ob.lookInside(ctx, c, running)
	}
}

// each calls do at intervals until ctx ends.
func each(ctx context.Context, every time.Duration, do func()) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			do()
		case <-ctx.Done():
			return
		}
	}
}

// refresh removes the pods that are gone, and adds new ones.
func (cs *controllers) refresh(ctx context.Context, ob *observation, running *sync.WaitGroup) {
	pods, err := ob.pods(ctx)
	if err != nil {
		if ctx.Err() == nil {
			ob.trouble("cannot list the controllers", err.Error())
		}
		return
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.all = slices.DeleteFunc(cs.all, func(c *controller) bool {
		gone := !slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.UID == c.pod.UID })
		if gone {
			ob.trouble("the controller "+c.name+" is gone", "")
		}
		return gone
	})
	for i, pod := range pods {
		if slices.ContainsFunc(cs.all, func(c *controller) bool { return c.pod.UID == pod.UID }) {
			continue
		}
		c := ob.newController(&pods[i])
		cs.all = append(cs.all, c)
		ob.trouble("the controller "+c.name+" is new", "")
		ob.lookInside(ctx, c, running)
	}
}

// scrape scrapes all controllers concurrently, and logs the sample of each one and, if all answered, the
// sum of their usage.
func (cs *controllers) scrape(ctx context.Context, ob *observation) {
	cs.round.Lock()
	defer cs.round.Unlock()
	all := cs.now()
	var group sync.WaitGroup
	for _, c := range all {
		group.Go(func() { c.ask(ctx, ob.start) })
	}
	group.Wait()
	if ctx.Err() != nil {
		return
	}
	at := ob.log.Now()
	sum, complete := event.Usage{}, len(all) > 0
	for _, c := range all {
		if c.report(ob, at) {
			add(&sum, c.last.Usage)
			complete = complete && c.last.Memory
		} else {
			complete = false
		}
	}
	if complete && !cs.inside.used() {
		ob.log.Write(event.Event{At: at, Subject: subjectName, Usage: &sum})
	}
}

func add(sum *event.Usage, one event.Usage) {
	sum.NginxRSS += one.NginxRSS
	sum.NginxCPU += one.NginxCPU
	sum.ControllerRSS += one.ControllerRSS
	sum.ControllerCPU += one.ControllerCPU
}

// report logs the sample of a controller or, once, that it does not answer. It reports whether the
// controller answered.
func (c *controller) report(ob *observation, at time.Duration) bool {
	if c.err != nil {
		if !c.failing && ob.sight.Metrics {
			ob.trouble("the controller "+c.name+" does not expose metrics", c.err.Error())
		}
		c.failing = true
		return false
	}
	c.failing = false
	scrape := c.last.Scrape
	scrape.Pod = c.name
	ob.log.Write(event.Event{At: at, Subject: subjectName, Scrape: &scrape})
	return true
}

// ask reads the metrics of a controller, and its status page if they lack nginx's counts.
func (c *controller) ask(ctx context.Context, start time.Time) {
	ctx, cancel := context.WithTimeoutCause(ctx, scrapePatience, fmt.Errorf("no answer within %v", scrapePatience))
	defer cancel()
	body, err := c.metrics.open(ctx)
	if err != nil {
		c.err = err
		return
	}
	defer body.Close()
	sample, err := notice.ParseMetrics(body, start)
	if c.err = err; err != nil {
		return
	}
	if sample.Scrape.Nginx == nil && c.status != nil {
		sample.Scrape.Nginx, _ = readStatus(ctx, c.status)
	}
	c.last = &sample
}
