package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/controller/render"
	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/internal/version"
	"windtunnel.dev/lua"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/mutate"
	"windtunnel.dev/sim/behave/mutate/hunt"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/rundir"
)

// mutationsPage is the page with the results, in the folder of -o.
const mutationsPage = "mutations.md"

// mainTemplate is the file of a template that includes the others.
const mainTemplate = "nginx.tmpl"

// caseMutateOptions contains the flags of case mutate.
type caseMutateOptions struct {
	out           string
	template, lua string
	kinds         []string
	only          string
	sample        int
	seed          uint64
	budget        time.Duration
	reasons       string
	again         bool
	most          float64
	subject       caseSubject
}

func caseMutateCommand() *cobra.Command {
	var o caseMutateOptions
	command := &cobra.Command{
		Use:   "mutate [FILE|FOLDER…]",
		Short: "Find lines of a template, of Lua code, and settings that no case watches",
		Long: `Find lines of a template, of Lua code, and settings that no case watches (default: all
cases in the folder cases).

Makes mutants: it deletes a line of the template of nginx.conf, or changes its value or
condition; it does the same with the Lua code; and it makes the controller ignore an
annotation, a ConfigMap key or a flag. It runs the cases under each mutant until one
fails. A mutant that survives shows what no case watches. A case that kills no mutant
watches nothing.
Cases that are likely to notice a mutant run first. Surviving mutants are tried with all
cases whose nginx.conf has the line. A run with the same --out continues an earlier one.
Writes a page (mutations.md) and the outcome of each mutant (mutants.jsonl).
Exit codes: 0 at most --max-survivors percent survive without a reason, 1 more do, 2 the
mutants could not be tried, 3 too many are undecided to tell, 130 interrupted.`,
		ValidArgsFunction: completeCases,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{caseFolder}
			}
			return o.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVarP(&o.out, "out", "o", filepath.Join("runs", "mutations"), "folder for the results; with those of an earlier run, continues it")
	flags.StringVar(&o.template, "template", "", "template to change: a folder with nginx.tmpl, or a file (default: the bundled one)")
	flags.StringVar(&o.lua, "lua", "", "folder with the Lua code to change (default: the bundled one)")
	flags.StringSliceVar(&o.kinds, "kind", nil, "kinds of mutants: template, lua, annotation, config, flag (default: all)")
	flags.StringVar(&o.only, "only", "", "try only mutants whose name contains this text, such as cors.tmpl")
	flags.IntVar(&o.sample, "sample", 0, "try only this number of mutants, chosen at random (default: all)")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the order in which mutants are tried, and of the sample")
	flags.DurationVar(&o.budget, "budget", 0, "end after this time; mutants that are left are untried (default: no limit)")
	flags.BoolVar(&o.again, "again", false, "retry the mutants that survived an earlier run or are undecided, for example after cases have changed; except those with a reason that survived all cases")
	flags.StringVar(&o.reasons, "reasons", "", "file that says why mutants may survive; each line is a FILE, a colon and a line of that file, or a setting such as config/app-root, then a tab and the reason")
	flags.Float64Var(&o.most, "max-survivors", 5, "the percentage of mutants that may survive without a reason")
	flags.IntVar(&o.subject.installations, "installations", min(4*runtime.NumCPU(), mostInstallations), "controllers that run at the same time")
	o.subject.driver.addController(flags)
	addNginx(flags, &o.subject.driver.nginx)
	flags.BoolVar(&o.subject.driver.hostPaths, "allow-host-paths", false, "allow controllers without the flag --nginx-root, which write to fixed paths of this machine")
	return command
}

func (o caseMutateOptions) run(ctx context.Context, paths []string, stdout, stderr io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	cases, err := loadCases(paths)
	if err != nil {
		return err
	}
	in, err := o.hunted(cases)
	if err != nil {
		return err
	}
	reasons, err := o.readReasons()
	if err != nil {
		return err
	}
	o.warnOfStale(stderr, in.All, reasons)
	reasonOf := mutate.ReasonsOf(in.Mutants, reasons)
	unexplainedFirst(in.Mutants, reasonOf)
	d, err := o.subject.open(ctx)
	if err != nil {
		return err
	}
	in.Run = o.subject.target(d, cases).Options
	in.Run.Dir = o.out
	in.Again = o.again
	in.Excused = func(m mutate.Mutant) bool { return reasonOf[m.Name] != "" }
	began := time.Now()
	in.Workers = o.subject.installations
	in.WakeIdle = o.sample == 0 && o.only == "" && len(o.kinds) == 0
	in.Log = func(format string, values ...any) { fmt.Fprintf(stderr, format+"\n", values...) }
	in.Report = estimate(stderr, len(in.Mutants), began)
	hunting := ctx
	if o.budget > 0 {
		var cancel context.CancelFunc
		hunting, cancel = context.WithTimeout(ctx, o.budget)
		defer cancel()
	}
	found, err := hunt.Do(hunting, in)
	if err != nil && hunting.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("--budget=%v ended before all cases had run without mutants: give more time", o.budget)
	}
	if err != nil {
		return err
	}
	document := mutate.Document{
		Version: version.Of().Commit, Command: o.command(paths), Start: began,
		Cases: found.Cases, Results: found.Results, Known: found.Known, Reasons: reasonOf,
	}
	page := filepath.Join(o.out, mutationsPage)
	if err := rundir.WriteFile(page, func(w io.Writer) error { return mutate.Markdown(w, document) }); err != nil {
		return err
	}
	counts, unexplained := document.Count(""), document.Unexplained("")
	fmt.Fprintf(stdout, "%s: %d killed, %d survived (%s; %s without a reason), %d undecided, %d stillborn, %d unreached, %d untried\n%s\n", plural.Of(len(found.Results), "mutant"),
		counts[mutate.Killed], counts[mutate.Survived], counts.Percent(), unexplained.Percent(), counts[mutate.Undecided], counts[mutate.Stillborn], counts[mutate.Unreached], counts[mutate.Untried], page)
	if ctx.Err() != nil {
		return exitWith(judge.Interrupted)
	}
	return exitWith(survivorsOutcome(unexplained, o.most))
}

// check returns an error if a flag has an invalid value.
func (o caseMutateOptions) check() error {
	for _, kind := range o.kinds {
		if !slices.Contains(mutate.Kinds, mutate.Kind(kind)) {
			return fmt.Errorf("--kind=%s: want template, lua, annotation, config or flag", kind)
		}
	}
	if o.sample < 0 {
		return fmt.Errorf("--sample=%d: want a number of mutants, or 0 for all of them", o.sample)
	}
	if !(o.most >= 0 && o.most <= 100) {
		return fmt.Errorf("--max-survivors=%v: want a percentage from 0 to 100", o.most)
	}
	return notNegative("budget", o.budget)
}

// unexplainedFirst moves the mutants with a reason to survive behind the others of their kind. If
// time runs out, the mutants whose survival counts have been tried.
func unexplainedFirst(mutants []mutate.Mutant, reasons map[string]string) {
	rank := func(m mutate.Mutant) int {
		rank := 2 * slices.Index(mutate.Kinds, m.Kind)
		if reasons[m.Name] != "" {
			rank++
		}
		return rank
	}
	slices.SortStableFunc(mutants, func(a, b mutate.Mutant) int { return rank(a) - rank(b) })
}

// survivorsOutcome compares the share of survivors with the permitted percentage. The outcome is
// void if it depends on the undecided mutants.
func survivorsOutcome(counts mutate.Counts, most float64) judge.Outcome {
	low, high := counts.Surviving()
	switch {
	case low > most:
		return judge.Failed
	case high > most:
		return judge.Void
	}
	return judge.Passed
}

// command returns the command line, as pages show it.
func (o caseMutateOptions) command(paths []string) string {
	command := "windtunnel case mutate"
	if o.sample > 0 {
		command += fmt.Sprintf(" --sample %d --seed %d", o.sample, o.seed)
	}
	if len(o.kinds) > 0 {
		command += " --kind " + strings.Join(o.kinds, ",")
	}
	for _, flag := range []struct{ name, value string }{{"only", o.only}, {"template", o.template}, {"lua", o.lua}} {
		if flag.value != "" {
			command += " --" + flag.name + " " + flag.value
		}
	}
	if !slices.Equal(paths, []string{caseFolder}) {
		command += " " + strings.Join(paths, " ")
	}
	return command
}

// hunted returns the files and mutants of a hunt.
func (o caseMutateOptions) hunted(cases []*behave.Case) (hunt.Options, error) {
	in := hunt.Options{Texts: map[string]string{}, Template: render.Files()}
	for _, c := range cases {
		text, err := os.ReadFile(c.File)
		if err != nil {
			return in, err
		}
		in.Texts[c.Name] = string(text)
	}
	var err error
	if o.template != "" {
		if in.Template, err = readTemplate(o.template); err != nil {
			return in, err
		}
	}
	code := fs.FS(lua.FS)
	if o.lua != "" {
		code = os.DirFS(o.lua)
	}
	if in.Lua, err = readfile.Tree(code); err != nil {
		return in, err
	}
	in.All = slices.Concat(mutate.OfTemplate(in.Template), mutate.OfLua(ownLua(in.Lua)), mutate.OfSettings(cases))
	in.Mutants = slices.DeleteFunc(slices.Clone(in.All), func(m mutate.Mutant) bool {
		return len(o.kinds) > 0 && !slices.Contains(o.kinds, string(m.Kind)) || !strings.Contains(m.Name, o.only)
	})
	random := rand.New(rand.NewPCG(o.seed, 0)) //nolint:gosec // an order that can be repeated
	random.Shuffle(len(in.Mutants), func(i, j int) { in.Mutants[i], in.Mutants[j] = in.Mutants[j], in.Mutants[i] })
	if o.sample > 0 && o.sample < len(in.Mutants) {
		in.Mutants = in.Mutants[:o.sample]
	}
	if len(in.Mutants) == 0 {
		return in, errors.New("no such mutant")
	}
	return in, nil
}

// readTemplate reads the files of a template, which is a folder or a file.
func readTemplate(path string) (map[string]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		text, err := os.ReadFile(path)
		return map[string]string{mainTemplate: string(text)}, err
	}
	all, err := readfile.Tree(os.DirFS(path))
	if _, ok := all[mainTemplate]; !ok && err == nil {
		return nil, fmt.Errorf("--template=%s: the folder has no %s: windtunnel template export writes one with a whole template", path, mainTemplate)
	}
	for name := range all {
		if filepath.Ext(name) != ".tmpl" {
			delete(all, name)
		}
	}
	return all, err
}

// ownLua returns the files without tests, third-party libraries and our substitutes for them.
func ownLua(files map[string]string) map[string]string {
	own := map[string]string{}
	for name, text := range files {
		folder, _, _ := strings.Cut(name, "/")
		if path.Ext(name) == ".lua" && !slices.Contains([]string{"fallback", "vendor", "resty", "test", "spec"}, folder) {
			own[name] = text
		}
	}
	return own
}

// estimate returns a function that prints every few seconds how many mutants are left, and how long
// that may take.
func estimate(out io.Writer, all int, began time.Time) func(mutate.Result, int) {
	outcomes, settled, shown := map[string]mutate.Outcome{}, 0, time.Now()
	return func(r mutate.Result, left int) {
		outcomes[r.Name] = r.Outcome
		settled++
		if time.Since(shown) < caseProgressEvery {
			return
		}
		shown = time.Now()
		counts := mutate.Counts{}
		for _, outcome := range outcomes {
			counts[outcome]++
		}
		remaining := time.Duration(float64(time.Since(began)) / float64(settled) * float64(left)).Round(time.Minute)
		fmt.Fprintf(out, "%d of %s: %d killed, %d survived so far, %d stillborn, %d unreached; about %v left\n",
			all-left, plural.Of(all, "mutant"), counts[mutate.Killed], counts[mutate.Survived], counts[mutate.Stillborn], counts[mutate.Unreached], remaining)
	}
}
