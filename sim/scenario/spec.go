package scenario

import (
	"reflect"
	"time"
)

// Spec is the spec of a scenario file. Editors show the field comments as descriptions, through
// docs/scenario.schema.json.
type Spec struct {
	// One sentence: what the scenario shows.
	Summary string `yaml:"summary,omitempty"`
	// The source of all randomness: the same seed gives the same population, churn and traffic.
	Seed uint64 `yaml:"seed" jsonschema:"default=1"`
	// What is under test. Default: one subject named bundled, our controller.
	Subjects []Subject `yaml:"subjects,omitempty"`
	// The number of rounds that the timeline is divided into. The subjects take turns: A B, B A, A B.
	Rounds int `yaml:"rounds" jsonschema:"default=1,minimum=1"`
	// How long a round may take to converge after its last change.
	Settle time.Duration `yaml:"settle" jsonschema:"default=20s"`
	// The largest time between two polls of a worker (99th percentile); beyond it, the run is void. A worker is asked about one open change after another: a thousand at once take two seconds.
	Granularity time.Duration `yaml:"granularity" jsonschema:"default=250ms"`
	// Measurements that the scenario is about, such as reloads. A subject that cannot have one of them is measured, but no expectation applies to it.
	About []string `yaml:"about,omitempty"`
	// Keys of the controller's ConfigMap, for every subject.
	Config map[string]string `yaml:"config,omitempty"`
	// Services, pods and ingresses that exist before the timeline begins.
	Population Population `yaml:"population,omitempty"`
	// Streams of requests that run throughout each round.
	Traffic []Traffic `yaml:"traffic,omitempty"`
	// What happens, and when.
	Timeline []Step `yaml:"timeline,omitempty"`
	// What must hold for every subject: CEL over the measurements, such as reloads == 0.
	Expect []Expectation `yaml:"expect,omitempty"`
	// The figures by which runs are compared, and how much each may rise.
	Compare Comparison `yaml:"compare,omitempty"`
	// A mutation that must make the scenario fail, which proves that it can.
	Control *Control `yaml:"control,omitempty"`
	// When the scenario runs: pr, on every change; nightly; soak, for hours.
	Tier string `yaml:"tier,omitempty" jsonschema:"enum=pr,enum=nightly,enum=soak"`
}

// Comparison defines what windtunnel ab and compare compare, unless their flags do.
type Comparison struct {
	// The figures, such as reloads or requests.*, where * matches any characters. Default: all.
	Figures []string `yaml:"figures,omitempty"`
	// How much figures may rise, by name: 3, 20%, 2ms, 10Mi.
	Budgets map[string]string `yaml:"budgets,omitempty"`
}

// Control is the negative control of a scenario: a mutation under which named
// expectations must not hold. An expectation that holds anyway proves nothing.
type Control struct {
	// What the mutation does, in one sentence.
	What string `yaml:"what" jsonschema:"required"`
	// Flags of every subject's controller; they override its own.
	Flags map[string]string `yaml:"flags,omitempty"`
	// Keys of every subject's ConfigMap; they override its own.
	Config map[string]string `yaml:"config,omitempty"`
	// Additional steps: faults, manifests to apply or delete.
	Timeline []Step `yaml:"timeline,omitempty"`
	// The expectations that must fail, exactly as in expect.
	Fails []string `yaml:"fails" jsonschema:"required"`

	// NotApplicable says why the mutation does not apply to the subjects that replaced those of the file.
	NotApplicable string `yaml:"-"`

	Line int `yaml:"-"` // in the file, from 1
}

// Tiers lists the valid tiers.
var Tiers = []string{"pr", "nightly", "soak"}

// Subject is a controller under test, with its settings.
type Subject struct {
	// The name of the subject: lower-case letters, digits and dashes.
	Name string `yaml:"name" jsonschema:"required"`
	// The controller: bundled for ours, the path of a binary, or image:NAME. Default: bundled or, with an adapter, the adapter's program.
	Controller string `yaml:"controller,omitempty"`
	// How the controller is started and observed: the name of an adapter (windtunnel list adapters) or the path of its file.
	Adapter string `yaml:"adapter,omitempty" jsonschema:"default=ingress-nginx"`
	// The controller's image, instead of controller: image:NAME. A path that ends with .tar or begins with ./ or / is a file that docker save has written, for the driver local.
	Image string `yaml:"image,omitempty"`
	// The binary of nginx, or of whichever proxy the controller starts. Default: the controller's choice.
	Nginx string `yaml:"nginx,omitempty"`
	// A folder with the Lua code that nginx runs. Default: the controller's own.
	Lua string `yaml:"lua,omitempty"`
	// The template of the proxy's configuration. Default: the controller's own.
	Template string `yaml:"template,omitempty"`
	// Flags of the controller, without the leading dashes.
	Flags map[string]string `yaml:"flags,omitempty"`
	// Keys of the controller's ConfigMap for this subject; they override the scenario's.
	Config map[string]string `yaml:"config,omitempty"`
	// Whether the API server asks the controller's validating webhook about each ingress that is written, once the controller is healthy.
	Webhook bool `yaml:"webhook,omitempty"`
	// Limits of the controller and nginx together, as of a container. Not every driver supports them.
	Resources Resources `yaml:"resources,omitempty"`
	// What must hold for this subject only: CEL over the measurements.
	Expect []Expectation `yaml:"expect,omitempty"`

	Line int `yaml:"-"` // in the file, from 1
}

// Resources are limits in Kubernetes' units. Zero means no limit.
type Resources struct {
	// Number of processors: 1, 500m.
	CPU Quantity `yaml:"cpu,omitempty"`
	// Memory: 512Mi, 1Gi.
	Memory Quantity `yaml:"memory,omitempty"`
}

// IsZero reports whether there are no limits.
func (r Resources) IsZero() bool { return r.CPU.IsZero() && r.Memory.IsZero() }

// Population is the cluster at the start: generated, recorded, or imported; see sim/corpus.
type Population struct {
	// The namespace of the whole population.
	Namespace string `yaml:"namespace,omitempty" jsonschema:"default=demo"`
	// A file with a user's cluster, as windtunnel corpus import writes it, relative to the scenario's folder. It replaces all other fields.
	Cluster string `yaml:"cluster,omitempty"`
	// The file of a recording, beside the scenario. Its population replaces all fields below.
	Recording string `yaml:"recording,omitempty"`
	// Number of services.
	Services int `yaml:"services,omitempty" jsonschema:"minimum=1"`
	// Number of pods per service.
	Pods int `yaml:"pods,omitempty" jsonschema:"default=1,minimum=1"`
	// How many ingresses, distributed over the services. Default: one per service.
	Ingresses int `yaml:"ingresses,omitempty" jsonschema:"minimum=1"`
	// Whether each ingress has its own certificate for its host.
	TLS bool `yaml:"tls,omitempty"`
	// Whether each service is also available over plain TCP and UDP, at its own port.
	Streams bool `yaml:"streams,omitempty"`
	// Annotations of each ingress.
	Annotations map[string]string `yaml:"annotations,omitempty"`
	// Further paths of each ingress: /path-1, /path-2 … No request asks for them.
	Paths int `yaml:"paths,omitempty" jsonschema:"default=0,minimum=0"`

	Line int `yaml:"-"` // of cluster in the file, from 1; 0 without one
}

// Generated reports whether fields say how a population is generated.
func (p Population) Generated() bool {
	return p.Services+p.Pods+p.Ingresses+p.Paths != 0 || p.TLS || p.Streams || p.Annotations != nil
}

// IsZero reports whether there is no population.
func (p Population) IsZero() bool { return reflect.ValueOf(p).IsZero() }

// Traffic is one stream of requests.
type Traffic struct {
	// The kind of client, such as http or post.
	Lane string `yaml:"lane" jsonschema:"required"`
	// Requests per second, minute or hour: 200/s, 90/m, 10/h.
	Rate Rate `yaml:"rate" jsonschema:"required"`
	// How requests arrive at that rate: evenly, or randomly like those of many independent clients.
	Arrivals string `yaml:"arrivals,omitempty" jsonschema:"default=constant,enum=constant,enum=poisson"`
	// Changes the rate linearly to another one, from the beginning of each round; it stays there.
	Ramp *Ramp `yaml:"ramp,omitempty"`
	// Lets the rate, including that of a ramp, oscillate like a sine.
	Sine *Sine `yaml:"sine,omitempty"`
	// How unequally requests are distributed over the hosts, with their paths: the exponent of Zipf's law. The n-th most popular gets requests in proportion to 1/n^zipf. About 1 is usual for web traffic. Default: all hosts get the same share.
	Zipf float64 `yaml:"zipf,omitempty" jsonschema:"minimum=0,maximum=10"`
	// The only host to ask, from the population, a manifest or new-hosts; one that ends with .invalid needs no ingress. Default: all hosts of the population, in a seeded order.
	Host string `yaml:"host,omitempty"`
	// Whose pods must answer at the host of a manifest; in lanes of plain TCP and UDP, the only service to connect to. Default: any.
	Service string `yaml:"service,omitempty"`
	// How long a request takes, in lanes whose requests have a chosen length.
	Last time.Duration `yaml:"last,omitempty" jsonschema:"default=2s"`
	// Size of an upload or a download, in bytes.
	Bytes int64 `yaml:"bytes,omitempty" jsonschema:"default=1048576,minimum=1"`

	Line int `yaml:"-"` // in the file, from 1
}

// The values of Traffic.Arrivals.
const (
	Constant = "constant"
	Poisson  = "poisson"
)

// Ramp is a linear change from one rate to another.
type Ramp struct {
	// The rate at the end of the ramp.
	To Rate `yaml:"to" jsonschema:"required"`
	// How long the ramp takes.
	Over time.Duration `yaml:"over" jsonschema:"required"`
}

// Sine is a periodic change of a rate.
type Sine struct {
	// The amplitude.
	By Rate `yaml:"by" jsonschema:"required"`
	// The period.
	Every time.Duration `yaml:"every" jsonschema:"required"`
}

// Step is one entry of the timeline. It has exactly one action: churn, apply, delete or fault.
type Step struct {
	// When the step begins, from the beginning of the timeline.
	At time.Duration `yaml:"at"`
	// A stream of changes over the population.
	Churn string `yaml:"churn,omitempty" jsonschema:"enum=rolling-update,enum=scale-out,enum=new-hosts,enum=touch,enum=certificate-rotation,enum=recorded"`
	// Changes per second, minute or hour, of a churn.
	Rate Rate `yaml:"rate,omitempty"`
	// How long a churn or a fault lasts.
	For time.Duration `yaml:"for,omitempty"`
	// How many pods each change of a scale-out adds.
	Pods int `yaml:"pods,omitempty" jsonschema:"default=1,minimum=1"`
	// Further paths of each host of a new-hosts: /path-1, /path-2 … No request asks for them.
	Paths int `yaml:"paths,omitempty" jsonschema:"default=0,minimum=0"`
	// How long a pod that has left its service keeps serving, as with a preStop hook. With 0s it refuses connections at once.
	Drain *time.Duration `yaml:"drain,omitempty" jsonschema:"default=5s"`
	// Creates or updates the manifests with this name, in the order of the file.
	Apply string `yaml:"apply,omitempty"`
	// Deletes the manifests with this name, in reverse order of the file.
	Delete string `yaml:"delete,omitempty"`
	// The answer that shows that everything applied, or deleted, is live. Without it, such a change has no convergence.
	Confirmation *Confirmation `yaml:"see,omitempty"`
	// Breaks something on purpose, such as api-restart or worker-kill.
	Fault string `yaml:"fault,omitempty"`

	Line int `yaml:"-"` // in the file, from 1
}

// Confirmation is the answer that clients get once a change of manifests is live.
type Confirmation struct {
	// The host to request.
	Host string `yaml:"host" jsonschema:"required"`
	// The path to request.
	Path string `yaml:"path,omitempty" jsonschema:"default=/"`
	// The service whose pods answer; in the population's namespace unless written as NAMESPACE/NAME.
	Service string `yaml:"service,omitempty"`
	// The status of the answer. Default: 200 with a service, else any.
	Status int `yaml:"status,omitempty" jsonschema:"minimum=100,maximum=599"`
}

// drains reports whether the step removes pods from their services.
func (s Step) drains() bool { return s.Churn == RollingUpdate || s.Churn == Recorded }

// actions returns the keys of the actions that the step has.
func (s Step) actions() []string {
	var named []string
	for _, a := range []struct{ key, value string }{{"churn", s.Churn}, {"apply", s.Apply}, {"delete", s.Delete}, {"fault", s.Fault}} {
		if a.value != "" {
			named = append(named, a.key)
		}
	}
	return named
}
