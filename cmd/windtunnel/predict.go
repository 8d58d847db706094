package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"windtunnel.dev/docs"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/predict"
	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/question"
	"windtunnel.dev/sim/predict/report"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// predictOptions are the flags of predict.
type predictOptions struct {
	set        []string
	sweep      []string
	where      []string
	parameters string
	subject    string
	runs       int
	runsSet    bool
	seed       uint64
	seedSet    bool
	out        string
	format     format
}

func predictCommand() *cobra.Command {
	var o predictOptions
	command := &cobra.Command{
		Use:   "predict [QUESTION.yaml|SCENARIO.yaml]",
		Short: "Predict staleness, reloads, memory and lost requests of clusters that are too large for this machine",
		Long: `Predict staleness, reloads, memory and lost requests of clusters that are too large for this machine.

Simulates the control loop of ingress-nginx with costs that windtunnel calibrate has
fitted from runs. The question is a file, or the flags --set alone:
  windtunnel predict --set ingresses=100000,endpoints=1000000,worker-processes=64 \
    --set rolling-update=50/s,new-hosts=1/m --set http=1000/s
With a scenario, the prediction is about its run. Names of --set and --sweep are flags and
ConfigMap keys of the controller, ingresses, services, endpoints, processors, for, kinds of
changes and lanes (with rates); a --sweep has an answer for each value:
  windtunnel predict large.yaml --sweep sync-rate-limit=0.3,1,3,10 \
    --where 'p99 staleness < 3s, peak memory < 8GiB'

Each answer has the median and the interval of each figure, its error on held-out runs, and
how far the question is outside the range for which the costs were fitted.
With --out, the answer is also written as index.html and prediction.json.
Exit codes: 0 predicted and, with conditions, an answer meets all of them in 90 % of the
simulated runs, 1 no answer does, 2 the question cannot be answered.`,
		Args: arguments("[QUESTION.yaml|SCENARIO.yaml]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.runsSet, o.seedSet = cmd.Flags().Changed("runs"), cmd.Flags().Changed("seed")
			return o.run(cmd, args)
		},
	}
	flags := command.Flags()
	flags.StringSliceVar(&o.set, "set", nil, "NAME=VALUE: a setting of the question; can be repeated")
	flags.StringArrayVar(&o.sweep, "sweep", nil, "NAME=VALUE,VALUE…: an answer for each value; can be repeated, for all combinations")
	flags.StringArrayVar(&o.where, "where", nil, "conditions that an answer should meet: 'staleness.p99 < 3s, memory.peak < 8Gi'; can be repeated")
	flags.StringVar(&o.parameters, "parameters", "", "file that windtunnel calibrate has written (default: the built-in one)")
	flags.StringVar(&o.subject, "subject", "", "subject of a scenario whose run is predicted (default: the first)")
	flags.IntVar(&o.runs, "runs", 0, "simulated runs of each answer (default: the question's)")
	flags.Uint64Var(&o.seed, "seed", 0, "seed (default: the question's)")
	flags.StringVar(&o.out, "out", "", "folder for the page and the JSON")
	o.format.add(command)
	completesAs(command, "set", cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace, settable()...)
	completesAs(command, "sweep", cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace, settable()...)
	return command
}

func settable() []string {
	var all []string
	for _, name := range question.Settable() {
		all = append(all, name+"=")
	}
	return all
}

func (o *predictOptions) run(cmd *cobra.Command, args []string) error {
	q, err := o.question(args)
	if err != nil {
		return err
	}
	parameters, err := loadParameters(o.parameters)
	if err != nil {
		return err
	}
	progress := newStages(cmd.ErrOrStderr())
	prediction, err := predict.Ask(q, parameters, func(done, of int) { progress.show("simulating", done, of) })
	progress.end()
	if err != nil {
		return err
	}
	prediction.Parameters.File = o.parameters
	if err := o.print(cmd.OutOrStdout(), prediction); err != nil {
		return err
	}
	for _, answer := range prediction.Answers {
		if answer.Meets >= report.Sure || len(answer.Conditions) == 0 {
			return nil
		}
	}
	return exitWith(judge.Failed)
}

// loadParameters loads a parameter file; "" means the built-in one.
func loadParameters(path string) (*costs.Parameters, error) {
	if path == "" {
		return costs.Parse("parameters.yaml", docs.Parameters)
	}
	return costs.Load(path)
}

// question reads the question from the file and applies the flags.
func (o *predictOptions) question(args []string) (question.Question, error) {
	q := question.New()
	if len(args) == 1 {
		var err error
		if q, err = o.load(args[0]); err != nil {
			return q, err
		}
	} else if o.subject != "" {
		return q, fmt.Errorf("--subject=%s: there is no scenario: name one, or leave it out", o.subject)
	} else if len(o.set) == 0 {
		return q, fmt.Errorf("no question: name a file, or describe the cluster with --set, such as --set ingresses=1000,rolling-update=5/s")
	}
	for _, text := range o.set {
		name, value, err := assignment("set", text)
		if err != nil {
			return q, err
		}
		if err := q.Set(name, value); err != nil {
			return q, fmt.Errorf("--set: %w", err)
		}
	}
	if len(o.sweep) > 0 {
		q.Sweep = map[string][]string{}
	}
	for _, text := range o.sweep {
		name, values, err := assignment("sweep", text)
		if err != nil {
			return q, err
		}
		q.Sweep[name] = append(q.Sweep[name], strings.Split(values, ",")...)
	}
	if len(o.where) > 0 {
		q.Where = o.where
	}
	if o.runsSet {
		if q.Runs = o.runs; o.runs < 1 {
			return q, fmt.Errorf("--runs=%d: want at least one simulated run of each answer", o.runs)
		}
	}
	if o.seedSet {
		q.Seed = o.seed
	}
	return q, q.Check()
}

func assignment(flag, text string) (name, value string, err error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" || value == "" {
		return "", "", fmt.Errorf("--%s %q: want NAME=VALUE; the names are %s", flag, text, strings.Join(question.Settable(), ", "))
	}
	return name, value, nil
}

// load reads a question file, or a scenario.
func (o *predictOptions) load(path string) (question.Question, error) {
	text, err := readfile.Read(path, scenario.Largest)
	if err != nil {
		return question.Question{}, err
	}
	var head struct{ Kind string }
	_ = yaml.Unmarshal(text, &head) // the parser reports errors better
	if head.Kind != scenario.Kind && o.subject != "" && head.Kind == question.Kind {
		return question.Question{}, fmt.Errorf("--subject=%s: %s is a question, which has no subjects: leave it out", o.subject, path)
	}
	if head.Kind != scenario.Kind {
		return question.Parse(path, text)
	}
	s, err := scenario.LoadAs(path, text, knownNames())
	if err != nil {
		return question.Question{}, err
	}
	for _, one := range subject.Of(s) {
		if o.subject == "" || one.Name == o.subject {
			return question.FromScenario(s, one)
		}
	}
	return question.Question{}, fmt.Errorf("%s has no subject %s", path, o.subject)
}

// print prints the prediction, and writes it into the folder of --out.
func (o *predictOptions) print(out io.Writer, p *predict.Prediction) error {
	if o.format.json() {
		if err := report.JSON(out, p); err != nil {
			return err
		}
	} else if err := report.Text(out, p); err != nil {
		return err
	}
	if o.out == "" {
		return nil
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	files := map[string]func(io.Writer, *predict.Prediction) error{"prediction.json": report.JSON, "index.html": report.HTML}
	if err := writeFiles(o.out, files, p); err != nil {
		return err
	}
	return printPage(out, o.format, filepath.Join(o.out, "index.html"))
}
