package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"windtunnel.dev/internal/tempdir"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/regress/clusterfiles"
	"windtunnel.dev/sim/regress/report"
	"windtunnel.dev/sim/regress/side"
	"windtunnel.dev/sim/regress/speed"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
)

// regressOptions are the arguments and flags of regress.
type regressOptions struct {
	base, head string
	corpus     []string
	parts      []string
	cases      []string
	requests   int
	named      []*behave.Case // loaded from cases
	driver     driverFlags
	out        string
	minimise   bool
	expected   string
	rounds     int
	format     format
}

func regressCommand() *cobra.Command {
	var o regressOptions
	command := &cobra.Command{
		Use:   "regress BASE HEAD",
		Short: "Find the effects of a change of the template, Lua code, nginx or settings on clusters",
		Long: `Find the effects of a change of the template, Lua code, nginx or settings on clusters.

BASE and HEAD are each bundled, a git revision of this repository, or . for the working
tree, with settings:
  bundled,template=FILE|DIR   template=PATH@REVISION   lua=DIR   lua=DIR@REVISION
  nginx=PATH   flag.NAME=VALUE   config.KEY=VALUE
Settings alone mean bundled with these settings. A revision uses the template and the Lua
code at their paths in our repository or in ingress-nginx's. Both sides are rendered by the
bundled controller. A side can also be another controller, as for run --subject: the path of
a program, image:NAME, image:FILE.tar or an adapter. Then only behaviour is compared.

Both sides render each cluster of the corpus: a file of manifests, as kubectl get -o yaml
writes it, or a behaviour case. The configurations are compared as nginx reads them: without
comments and whitespace, and ignoring their order where nginx does. nginx -t tests them.
Each kind of difference is shown with the line of the template, the objects that are
affected, and the smallest cluster that shows it.

Then a controller of each side answers behaviour cases, with a real nginx. If only templates
differ, cases for which both sides render the same are left out. Both also answer requests
that follow from the manifests of --corpus, as in windtunnel case record: the head must give
the same answers as the base. Answers that differ twice are reported.

With --part speed, both sides serve the last cluster of the corpus, and take turns in
measuring what rendering, testing, a reload, a worker and requests of each kind of
location cost. Figures that differ by more than their budget are reported.
With --out, the report is also written as regress.json, regress.md and index.html, and the
smallest clusters as files.
Exit codes: 0 the sides do the same, or differ as expected, 1 they differ, 2 the input cannot
be used, 3 some tests could not be run, 130 interrupted.`,
		Args: arguments("BASE", "HEAD"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.base, o.head = args[0], args[1]
			if err := o.checkUnused(cmd.Flags()); err != nil {
				return err
			}
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.corpus, "corpus", nil, "file or folder of clusters; can be repeated (default: generated clusters of 10, 100 and 1,000 ingresses)")
	flags.StringSliceVar(&o.parts, "part", nil, "parts to run: rendered, tested, behaviour, speed (default: all but speed)")
	flags.StringArrayVar(&o.cases, "cases", nil, "file or folder of behaviour cases; can be repeated (default: the folder "+caseFolder+", if it exists)")
	flags.IntVar(&o.rounds, "rounds", speed.DefaultRounds, "speed: measurements of each side")
	flags.IntVar(&o.requests, "corpus-requests", 500, "maximum number of requests that are derived from the manifests of --corpus and sent to both sides; 0: none")
	o.driver.addController(flags)
	flags.StringVar(&o.out, "out", "", "folder for the report and the smallest clusters")
	flags.BoolVar(&o.minimise, "minimise", true, "look for the smallest cluster that shows each kind of difference")
	flags.StringVar(&o.expected, "expected", "", "file that declares expected differences and budgets (default: "+projectFile+" of the current folder, if it exists)")
	o.format.add(command, markdownFormat)
	return command
}

func (o *regressOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	parts, err := o.check()
	if err != nil {
		return err
	}
	if o.out != "" {
		removeEmpty, err := makeOut(&o.out, "")
		if err != nil {
			return err
		}
		defer removeEmpty()
	}
	folder, err := tempdir.Make("regress")
	if err != nil {
		return err
	}
	defer folder.Remove()
	if err := os.Chmod(folder.Path, 0o755); err != nil { // nginx's workers do not run as root
		return err
	}
	subjects, err := o.subjects(ctx, folder.Path)
	if err != nil {
		return err
	}
	if err := o.driver.forSubjectsOf(together(subjects[:]...)).checkBundled(); err != nil {
		return err
	}
	if err := refusedByBoth(subjects); err != nil {
		return err
	}
	for i, s := range subjects {
		if s.Controller == scenario.Bundled {
			warnOfKeys(stderr, sideNames[i], s.Config)
		}
	}
	options := regress.Options{Parts: parts, Minimise: o.minimise, Today: time.Now()}
	var sides side.Pair
	var notes []string
	err = untilDone(ctx, func() (err error) { // large clusters take minutes
		sides, notes, err = o.open(subjects, folder.Path, &options)
		return err
	})
	if err != nil {
		return err
	}
	options.Behaviour = o.behaviourOf(sides, subjects, filepath.Join(folder.Path, "cases"))
	project, err := o.project()
	if err != nil {
		return err
	}
	options.Expected = project.Expected
	if n := len(options.Clusters); n > 0 {
		options.Speed = o.speedOf(sides, options.Clusters[n-1], project.Budgets)
	}
	progress := newStages(stderr)
	options.Progress = progress.show
	result, err := regress.Run(ctx, options)
	progress.end()
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "windtunnel: interrupted; there is no report, because the comparison is incomplete")
		return exitWith(judge.Interrupted)
	}
	if err != nil {
		return err
	}
	result.Base, result.Head = o.base, o.head
	if len(sides.ChangedLua) > 0 {
		notes = append(notes, report.LuaNote(sides.ChangedLua))
	}
	result.Notes = append(notes, result.Notes...)
	return o.finish(stdout, result)
}

// checkUnused returns an error if a flag was set that none of the chosen parts uses.
func (o *regressOptions) checkUnused(flags *pflag.FlagSet) error {
	if !slices.Contains(o.parts, string(regress.SpeedPart)) {
		if err := refuseUnused(flags, "only the part speed measures: add --part speed", "rounds"); err != nil {
			return err
		}
	}
	if len(o.parts) > 0 && !slices.Contains(o.parts, string(regress.BehaviourPart)) {
		if err := refuseUnused(flags, "only the part behaviour sends requests: add --part behaviour", "cases", "corpus-requests"); err != nil {
			return err
		}
		if err := refuseUnused(flags, "only the part behaviour starts controllers: add --part behaviour", "controller"); err != nil {
			return err
		}
	}
	if len(o.parts) > 0 && !slices.Contains(o.parts, string(regress.RenderedPart)) && !slices.Contains(o.parts, string(regress.TestedPart)) {
		if err := refuseUnused(flags, "only differences of configurations are minimised: add --part rendered", "minimise"); err != nil {
			return err
		}
	}
	if len(o.corpus) == 0 {
		return refuseUnused(flags, "requests are derived only from the manifests of --corpus: name some", "corpus-requests")
	}
	return nil
}

// check checks the flags, reads the cases that they name, and returns the chosen parts.
func (o *regressOptions) check() (parts []regress.Part, err error) {
	if parts, err = o.chosenParts(); err != nil {
		return nil, err
	}
	if o.rounds < 1 {
		return nil, fmt.Errorf("--rounds %d: want at least 1; a verdict needs several", o.rounds)
	}
	if o.requests < 0 {
		return nil, fmt.Errorf("--corpus-requests %d: want 0 (none) or more", o.requests)
	}
	if len(o.cases) > 0 {
		if o.named, err = loadCases(o.cases); err != nil {
			return nil, fmt.Errorf("--cases: %w", err)
		}
	}
	return parts, nil
}

// open opens both sides below a folder, and adds them to the options. The bundled controller renders
// them; if it does not render one, the sides are empty, and only behaviour is compared. The notes are for
// the report.
func (o *regressOptions) open(subjects [2]scenario.Subject, folder string, options *regress.Options) (sides side.Pair, notes []string, err error) {
	if other := otherController(subjects); other != "" {
		options.Parts, err = o.partsOf(other)
		return sides, []string{other + " is another controller: only behaviour is compared."}, err
	}
	if sides, options.Clusters, err = o.sides(subjects, folder); err != nil {
		return sides, nil, err
	}
	options.Base, options.Head, options.SameProgram = sides.Base, sides.Head, sides.SameProgram
	options.Settings, options.HeadWith = sides.Settings, sides.HeadWith
	notes, err = sides.Unused(options.Clusters)
	return sides, notes, err
}

// speedOf returns a function that measures both sides on a cluster.
func (o *regressOptions) speedOf(sides side.Pair, cluster regress.Cluster, budgets map[string]float64) func(context.Context, func(string, int, int)) (*speed.Result, error) {
	return func(ctx context.Context, progress func(string, int, int)) (*speed.Result, error) {
		return sides.Speed(ctx, cluster, speed.Options{Rounds: o.rounds, Budgets: budgets, Progress: func(done, of int) { progress("measuring", done, of) }})
	}
}

// project reads the file with expected differences and budgets.
func (o *regressOptions) project() (regress.Project, error) {
	file, text, err := readProject(o.expected)
	if err != nil {
		return regress.Project{}, fmt.Errorf("reading the expected differences: %w", err)
	}
	return regress.ReadProject(file, text)
}

func (o *regressOptions) chosenParts() ([]regress.Part, error) {
	var parts []regress.Part
	for _, name := range o.parts {
		if !slices.Contains(regress.Parts, regress.Part(name)) {
			return nil, fmt.Errorf("--part %s: want rendered, tested, behaviour or speed", name)
		}
		parts = append(parts, regress.Part(name))
	}
	return parts, nil
}

// sideNames are the arguments that name the sides.
var sideNames = [2]string{"BASE", "HEAD"}

// subjects reads BASE and HEAD. Files of git revisions are written below a folder.
func (o *regressOptions) subjects(ctx context.Context, folder string) (subjects [2]scenario.Subject, err error) {
	for i, text := range []string{o.base, o.head} {
		if subjects[i], err = parseSide(ctx, text, filepath.Join(folder, "revisions", fmt.Sprint(i))); err != nil {
			return subjects, fmt.Errorf("%s %s: %w", sideNames[i], text, err)
		}
	}
	return subjects, nil
}

// otherController returns the name of a side that the bundled controller does not render; "" if there is
// none.
func otherController(subjects [2]scenario.Subject) string {
	for _, s := range subjects {
		if s.Controller != scenario.Bundled {
			return s.Name
		}
	}
	return ""
}

// partsOf returns the parts for a controller other than the bundled one.
func (o *regressOptions) partsOf(other string) ([]regress.Part, error) {
	for _, part := range o.parts {
		if part != string(regress.BehaviourPart) {
			return nil, fmt.Errorf("--part %s: %s is another controller, and only the bundled one renders here: write --part %s", part, other, regress.BehaviourPart)
		}
	}
	return []regress.Part{regress.BehaviourPart}, nil
}

// sides reads the corpus, and opens both sides below a folder. A flag of the corpus applies to a side
// that does not set it.
func (o *regressOptions) sides(subjects [2]scenario.Subject, folder string) (side.Pair, []regress.Cluster, error) {
	corpus := clusterfiles.Generated
	if len(o.corpus) > 0 {
		corpus = func() ([]regress.Cluster, map[string]string, error) {
			return readCorpus(o.corpus)
		}
	}
	clusters, flags, err := corpus()
	if err != nil {
		return side.Pair{}, nil, err
	}
	for i := range subjects {
		subjects[i].Flags = scenario.Over(flags, subjects[i].Flags)
	}
	sides, err := side.Open(subjects[0], subjects[1], folder)
	return sides, clusters, err
}

// readCorpus reads the clusters of --corpus. A cluster without an object that the controller reads
// is an error, because the file is probably the wrong one.
func readCorpus(paths []string) ([]regress.Cluster, map[string]string, error) {
	clusters, flags, err := clusterfiles.Read(paths, knownCaseNames())
	if err != nil {
		return nil, nil, err
	}
	for _, c := range clusters {
		source, err := c.Source()
		if err != nil {
			return nil, nil, err
		}
		if !c.Case && source.Empty() {
			return nil, nil, fmt.Errorf("--corpus: the cluster %s has no ingress, Service, EndpointSlice, Secret or ConfigMap: kubectl get ingress,svc,… -A -o yaml prints those of all namespaces", c.Name)
		}
	}
	return clusters, flags, nil
}

// finish prints and writes the report.
func (o *regressOptions) finish(stdout io.Writer, result *regress.Report) error {
	if o.out != "" {
		if err := o.write(result); err != nil {
			return err
		}
	}
	var err error
	switch o.format.chosen {
	case jsonFormat:
		err = printJSON(stdout, result)
	case markdownFormat:
		err = report.Markdown(stdout, result)
	default:
		err = report.Text(stdout, result)
	}
	if err == nil && o.out != "" {
		err = printPage(stdout, o.format, filepath.Join(o.out, "index.html"))
	}
	if err != nil {
		return err
	}
	return exitWith(map[regress.Outcome]judge.Outcome{regress.Same: judge.Passed, regress.Differs: judge.Failed, regress.Void: judge.Void}[result.Outcome])
}

// write writes the report and the smallest clusters into the folder of --out.
func (o *regressOptions) write(result *regress.Report) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	for name, text := range report.Files(result) {
		if err := rundir.WriteText(filepath.Join(o.out, name), []byte(text)); err != nil {
			return err
		}
	}
	return writeFiles(o.out, map[string]func(io.Writer, *regress.Report) error{
		"regress.json": func(w io.Writer, r *regress.Report) error { return printJSON(w, r) },
		"regress.md":   report.Markdown,
		"index.html":   report.HTML,
	}, result)
}
