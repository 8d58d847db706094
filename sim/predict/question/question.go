// Package question reads what to predict: a cluster, the settings of a controller, changes and
// traffic, from a YAML file, flags or a scenario. Its one rule: a setting that the simulation does
// not know is an error, and is never ignored.
package question

import (
	"cmp"
	"time"

	"windtunnel.dev/sim/predict/simulate"
	"windtunnel.dev/sim/scenario"
)

// APIVersion and Kind are the apiVersion and kind of a question file.
const (
	APIVersion = "windtunnel.dev/v1"
	Kind       = "Question"
)

// Question is what to predict.
type Question struct {
	Name string `json:"name"`
	Spec
}

// Spec is the spec of a question file. Editors show the field comments as descriptions, through
// docs/question.schema.json.
type Spec struct {
	// One sentence: what is asked.
	Summary string `yaml:"summary,omitempty" json:"summary,omitempty"`
	// The source of all randomness: the same seed gives the same answer.
	Seed uint64 `yaml:"seed" json:"seed" jsonschema:"default=1"`
	// The number of simulated runs for each answer. Each has other costs, from the bootstrap.
	Runs int `yaml:"runs" json:"runs" jsonschema:"default=40,minimum=1"`
	// The cluster at the beginning.
	Cluster Cluster `yaml:"cluster" json:"cluster" jsonschema:"required"`
	// The number of processors, on which workers apply new backends. Default: as on the machine of the parameters.
	Processors int `yaml:"processors,omitempty" json:"processors,omitempty" jsonschema:"minimum=1"`
	// Flags of the controller, without the leading dashes. Only those that matter for the control loop are known.
	Flags map[string]string `yaml:"flags,omitempty" json:"flags,omitempty"`
	// Keys of the controller's ConfigMap. Only those that matter for the control loop are known.
	Config map[string]string `yaml:"config,omitempty" json:"config,omitempty"`
	// Streams of changes.
	Changes []Change `yaml:"changes,omitempty" json:"changes,omitempty"`
	// Streams of requests.
	Traffic []Traffic `yaml:"traffic,omitempty" json:"traffic,omitempty"`
	// How long changes are made.
	For time.Duration `yaml:"for" json:"for" jsonschema:"default=10m"`
	// How long it may take after that until all changes are served.
	Settle time.Duration `yaml:"settle" json:"settle" jsonschema:"default=1h"`
	// Values of settings, each combination of which gets an answer: sync-rate-limit: [0.3, 1, 3].
	Sweep map[string][]string `yaml:"sweep,omitempty" json:"sweep,omitempty"`
	// Conditions that an answer should meet: staleness.p99 < 3s.
	Where []string `yaml:"where,omitempty" json:"where,omitempty"`
}

// Cluster is the size of a cluster.
type Cluster struct {
	// Number of ingresses.
	Ingresses int `yaml:"ingresses" json:"ingresses" jsonschema:"required,minimum=1"`
	// Number of services. Default: one per ingress.
	Services int `yaml:"services,omitempty" json:"services,omitempty" jsonschema:"minimum=1"`
	// Number of endpoints of all services. Default: one per service.
	Endpoints int `yaml:"endpoints,omitempty" json:"endpoints,omitempty" jsonschema:"minimum=1"`
}

// Change is a stream of changes of one kind.
type Change struct {
	// What each change is: rolling-update, scale-out, new-hosts and touch as in scenarios, or edit: an ingress changes so that nginx reloads.
	Kind simulate.Kind `yaml:"kind" json:"kind" jsonschema:"required,enum=rolling-update,enum=scale-out,enum=new-hosts,enum=edit,enum=touch"`
	// Changes per second, minute or hour.
	Rate scenario.Rate `yaml:"rate" json:"rate" jsonschema:"required"`
	// constant: one at a random time in each time slot, as in scenarios; poisson: at random times.
	Arrivals string `yaml:"arrivals,omitempty" json:"arrivals,omitempty" jsonschema:"default=constant,enum=constant,enum=poisson"`
	// When the stream begins.
	At time.Duration `yaml:"at,omitempty" json:"at,omitempty"`
	// How long it lasts. Default: the rest of the time.
	For time.Duration `yaml:"for,omitempty" json:"for,omitempty"`
	// How long a pod that has left its service keeps serving.
	Drain *time.Duration `yaml:"drain,omitempty" json:"drain,omitempty" jsonschema:"default=5s"`
}

// length returns how long the stream lasts if the time for changes is all.
func (c Change) length(all time.Duration) time.Duration { return cmp.Or(c.For, max(0, all-c.At)) }

// Traffic is a stream of requests.
type Traffic struct {
	// The kind of client, as in scenarios.
	Lane string `yaml:"lane" json:"lane" jsonschema:"required"`
	// Requests per second, minute or hour.
	Rate scenario.Rate `yaml:"rate" json:"rate" jsonschema:"required"`
	// How long a request takes, in lanes whose requests have a chosen length.
	Last time.Duration `yaml:"last,omitempty" json:"last,omitempty" jsonschema:"default=2s"`
}

// The defaults of a question.
const (
	defaultRuns   = 40
	defaultFor    = 10 * time.Minute
	defaultSettle = time.Hour
	defaultLast   = 2 * time.Second
)

// New returns a question with all defaults, for a cluster with one ingress.
func New() Question {
	return Question{Name: "question", Spec: Spec{Seed: 1, Runs: defaultRuns, Cluster: Cluster{Ingresses: 1}, For: defaultFor, Settle: defaultSettle}}
}

// Input returns the input of the simulation. processors is the number of processors of the machine of
// the parameters. The error is about the first setting that is not valid.
func (s *Spec) Input(processors int) (simulate.Input, error) {
	in := simulate.Input{
		Cluster: simulate.Cluster{
			Ingresses: s.Cluster.Ingresses,
			Services:  cmp.Or(s.Cluster.Services, s.Cluster.Ingresses),
		},
		Processors: cmp.Or(s.Processors, processors), For: s.For, Settle: s.Settle,
	}
	in.Cluster.Endpoints = cmp.Or(s.Cluster.Endpoints, in.Cluster.Services)
	settings, err := s.settings(in.Processors)
	if err != nil {
		return in, err
	}
	in.Settings = settings
	for _, c := range s.Changes {
		stream := simulate.Stream{
			Kind: c.Kind, Rate: float64(c.Rate), At: c.At, For: c.length(s.For),
			Poisson: c.Arrivals == scenario.Poisson, Drain: scenario.DefaultDrain,
		}
		if c.Drain != nil {
			stream.Drain = *c.Drain
		}
		in.Changes = append(in.Changes, stream)
	}
	for _, t := range s.Traffic {
		in.Traffic = append(in.Traffic, clients[t.Lane].lane(t))
	}
	return in, nil
}

// client has the properties of a lane's clients that matter to the simulation.
type client struct {
	repeats, new bool
	length       bool // the client chooses how long a request takes
	safe         bool // no reload affects it
}

// clients are the clients of the lanes of scenarios.
var clients = map[string]client{
	"http":        {repeats: true},
	"post":        {},
	"fresh":       {new: true},
	"slow":        {length: true},
	"upload":      {length: true},
	"download":    {length: true},
	"sse":         {length: true},
	"websocket":   {length: true},
	"tls":         {new: true},
	"grpc":        {repeats: true},
	"grpc-stream": {length: true},
	"tcp":         {length: true},
	"udp":         {safe: true},
	"udp-slow":    {safe: true},
}

func (c client) lane(t Traffic) simulate.Lane {
	lane := simulate.Lane{Rate: float64(t.Rate), Repeats: c.repeats || c.safe, New: c.new}
	if c.length {
		lane.Last = cmp.Or(t.Last, defaultLast)
	}
	return lane
}
