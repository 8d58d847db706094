package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/manifest"
	"windtunnel.dev/sim/report"
)

// caseRecordOptions contains the flags of case record.
type caseRecordOptions struct {
	out       string
	class     string
	configMap string
	subject   caseSubject
	format    format
}

func caseRecordCommand() *cobra.Command {
	var o caseRecordOptions
	command := &cobra.Command{
		Use:   "record MANIFESTS… -o FOLDER",
		Short: "Turn your own manifests into behaviour cases, with what a controller answers",
		Long: `Turn your own manifests into behaviour cases, with what a controller answers.

MANIFESTS are files, folders, or - for standard input: the ingresses with their
services, ConfigMaps and Secrets, such as the output of kubectl get
ingress,svc,endpointslices,cm,secrets -A -o yaml. Other kinds are ignored. The questions
follow from the ingresses: each host, path, redirect, canary, header and limit. They are
asked of the controller, with simulated pods in place of yours. The folder gets a case
for each group of ingresses that share hosts, which expects what was answered;
windtunnel case run FOLDER passes on the same controller. Recording again gives the same
files. No Secret is copied: the cases have generated certificates for the same names,
and passwords of their own.
Prints what is not asked, with the reason.
Exit codes: 0 all cases are recorded, 2 the manifests cannot be read, or nothing could
be asked, 3 some cases could not be recorded (their lines say why), 130 interrupted.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.record(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVarP(&o.out, "out", "o", "", "the folder for the cases (required)")
	flags.StringVar(&o.class, "ingress-class", "nginx", "the class to record; ingresses without a class are recorded as well")
	flags.StringVar(&o.configMap, "configmap", "ingress-nginx/ingress-nginx-controller", "namespace/name of the controller's ConfigMap, if it is among the manifests")
	o.subject.add(command)
	o.format.add(command)
	return command
}

// caseFlags are the flags that say what manifests mean, so that recorded cases have them, too.
var caseFlags = []string{"annotations-prefix", "disable-catch-all", "disable-svc-external-name", "enable-ssl-passthrough"}

// objectFlags are flags of the controller that name objects, which cases have under other names.
var objectFlags = []string{
	"configmap", "tcp-services-configmap", "udp-services-configmap", "default-backend-service", "default-ssl-certificate", "publish-service",
	"watch-namespace", "watch-namespace-selector",
}

// recordedCase is a case in the summary of a recording.
type recordedCase struct {
	File      string `json:"file,omitempty"` // empty if it could not be recorded
	Case      string `json:"case"`
	Questions int    `json:"questions"`
	Why       string `json:"why,omitempty"` // it could not be recorded
}

// caseRecording is the summary of a recording.
type caseRecording struct {
	Subject  string            `json:"subject"`
	Took     time.Duration     `json:"took"` // in nanoseconds
	Cases    []recordedCase    `json:"cases"`
	NotAsked []derive.Omission `json:"notAsked"`
}

func (o caseRecordOptions) record(ctx context.Context, paths []string, stdin io.Reader, stdout, stderr io.Writer) error {
	derived, err := o.derive(paths, stdin)
	if err != nil {
		return err
	}
	d, err := o.subject.open()
	if err != nil {
		return err
	}
	if err := o.createFolder(); err != nil {
		return err
	}
	asked, err := o.readable(derived.Cases)
	if err != nil {
		return err
	}
	logs, err := os.MkdirTemp("", "windtunnel-record-")
	if err != nil {
		return err
	}
	began := time.Now()
	recorded := map[string]*behave.Case{}
	byName := map[string]*derive.Case{}
	for _, c := range derived.Cases {
		byName[o.nameOf(c)] = c
	}
	target := o.subject.target(d, asked)
	target.Dir = logs
	target.Recorded = func(c *behave.Case, records []behave.Record) { recorded[c.Name] = byName[c.Name].Complete(records) }
	results, runErr := target.do(ctx, stderr, func(behave.Result) {})
	summary := caseRecording{Subject: o.subject.name(), Took: time.Since(began), NotAsked: derived.Omissions}
	lost := 0
	for n, c := range derived.Cases {
		one := recordedCase{Case: c.Name, Questions: len(c.Steps)}
		if complete := recorded[asked[n].Name]; complete != nil {
			one.File = filepath.Join(o.out, c.Name+".yaml")
			if err := writeCase(one.File, complete); err != nil {
				return err
			}
		} else {
			lost++
			one.Why = cmp.Or(results[n].Reason, "it was not asked")
		}
		summary.Cases = append(summary.Cases, one)
	}
	if err := o.print(stdout, summary); err != nil {
		return err
	}
	if lost > 0 {
		fmt.Fprintln(stderr, "windtunnel: the logs of the controllers are in", logs)
	} else if err := os.RemoveAll(logs); err != nil {
		return err
	}
	return exitWith(recordOutcome(ctx, runErr, lost, len(derived.Cases)))
}

func recordOutcome(ctx context.Context, err error, lost, all int) judge.Outcome {
	switch {
	case ctx.Err() != nil:
		return judge.Interrupted
	case err != nil, lost == all:
		return judge.NotRun
	case lost > 0:
		return judge.Void
	}
	return judge.Passed
}

// derive reads the manifests and derives the questions.
func (o caseRecordOptions) derive(paths []string, stdin io.Reader) (derive.Derived, error) {
	if o.out == "" {
		return derive.Derived{}, errors.New("--out is missing: name a folder for the cases")
	}
	namespace, name, err := cache.SplitMetaNamespaceKey(o.configMap)
	if err != nil || namespace == "" {
		return derive.Derived{}, fmt.Errorf("--configmap=%s: want namespace/name", o.configMap)
	}
	for _, flag := range objectFlags {
		if _, given := o.subject.flags[flag]; given {
			return derive.Derived{}, fmt.Errorf("--flag %s: it names an object, and cases have objects of their own; leave it out", flag)
		}
	}
	manifests, err := readManifests(paths, stdin)
	if err != nil {
		return derive.Derived{}, err
	}
	flags := map[string]string{}
	for _, flag := range caseFlags {
		if value, given := o.subject.flags[flag]; given {
			flags[flag] = value
		}
	}
	derived := derive.Of(manifests, derive.Options{
		Class: o.class, ConfigMap: types.NamespacedName{Namespace: namespace, Name: name}, Flags: flags, Known: knownCaseNames(),
	})
	if len(derived.Cases) == 0 {
		return derived, fmt.Errorf("no ingress of the class %s in %s", o.class, strings.Join(paths, ", "))
	}
	return derived, nil
}

// readManifests reads files and folders; - is standard input.
func readManifests(paths []string, stdin io.Reader) ([]manifest.Manifest, error) {
	var all []manifest.Manifest
	var wrong []error
	for _, path := range paths {
		var found []manifest.Manifest
		var err error
		if path == "-" {
			var text []byte
			if text, err = readfile.All(stdin, manifest.Largest); err == nil {
				found, err = manifest.Parse("<stdin>", text)
			}
		} else {
			found, err = manifest.Load(path)
		}
		all, wrong = append(all, found...), append(wrong, err)
	}
	return all, errors.Join(wrong...)
}

// createFolder makes the folder for the cases. One that has cases already is an error.
func (o caseRecordOptions) createFolder() error {
	if found, _ := filepath.Glob(filepath.Join(o.out, "*.yaml")); len(found) > 0 {
		return fmt.Errorf("%s has YAML files already: choose another --out, or remove them", o.out)
	}
	return os.MkdirAll(o.out, 0o755)
}

// nameOf is the name that the case has in its file.
func (o caseRecordOptions) nameOf(c *derive.Case) string {
	folder, err := filepath.Abs(o.out)
	if err != nil {
		folder = o.out
	}
	return filepath.Base(folder) + "/" + c.Name
}

// readable returns the cases as they are read from their files. That they are valid is our part: an
// error is a bug.
func (o caseRecordOptions) readable(cases []*derive.Case) ([]*behave.Case, error) {
	known := knownCaseNames()
	var all []*behave.Case
	for _, c := range cases {
		text, err := c.Placeholder().Marshal()
		if err != nil {
			return nil, err
		}
		one, err := behave.Parse(c.Name+".yaml", text, known)
		if err != nil {
			return nil, fmt.Errorf("the case that was derived is not valid, which is a bug of windtunnel: %w", err)
		}
		one.Name = o.nameOf(c)
		all = append(all, one)
	}
	return all, repeatedNames(all)
}

// recordedHead is the comment at the beginning of recorded cases.
const recordedHead = "# Recorded by windtunnel case record: what a controller answered, not what ingress-nginx promises.\n"

func writeCase(path string, c *behave.Case) error {
	text, err := c.Marshal()
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(recordedHead), text...), 0o644)
}

func (o caseRecordOptions) print(out io.Writer, s caseRecording) error {
	if o.format.json() {
		return printJSON(out, s)
	}
	return s.print(out)
}

// print prints what is not asked, the cases that could not be recorded, and the numbers.
func (s caseRecording) print(out io.Writer) error {
	var text strings.Builder
	if len(s.NotAsked) > 0 {
		text.WriteString("not asked:\n")
	}
	for _, o := range s.NotAsked {
		fmt.Fprintf(&text, "  %s: %s%s\n", report.PlainLine(o.What), report.PlainLine(o.Why), objects(o.Objects))
	}
	recorded, questions := 0, 0
	for _, c := range s.Cases {
		if c.Why != "" {
			fmt.Fprintf(&text, "void %s: %s\n", c.Case, report.PlainLine(c.Why))
			continue
		}
		recorded++
		questions += c.Questions
	}
	fmt.Fprintf(&text, "%s with %s in %s\n", plural.Of(recorded, "case"), plural.Of(questions, "step"), report.Seconds(s.Took.Seconds()))
	_, err := io.WriteString(out, text.String())
	return err
}

// objects lists the first objects that an omission is about.
func objects(names []string) string {
	const shown = 3
	switch {
	case len(names) == 0:
		return ""
	case len(names) > shown:
		return fmt.Sprintf(" (%s and %s)", strings.Join(names[:shown], ", "), plural.Of(len(names)-shown, "other"))
	}
	return " (" + strings.Join(names, ", ") + ")"
}
