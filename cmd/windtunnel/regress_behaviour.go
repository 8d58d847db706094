package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	casereport "windtunnel.dev/sim/behave/report"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/manifest"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/regress/behaviour"
	"windtunnel.dev/sim/regress/clusterfiles"
	"windtunnel.dev/sim/regress/side"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// behaviourOf returns a function that runs the cases and the requests of the corpus on both sides.
func (o *regressOptions) behaviourOf(sides side.Pair, subjects [2]scenario.Subject, folder string) func(context.Context, func(string, int, int)) (*regress.Behaviour, error) {
	a, b := subjects[0], subjects[1]
	onlyTemplates := sides.Base != nil && sides.SameProgram && maps.Equal(a.Flags, b.Flags) && maps.Equal(a.Config, b.Config)
	return func(ctx context.Context, progress func(string, int, int)) (*regress.Behaviour, error) {
		if onlyTemplates && maps.Equal(sides.Base.Template(), sides.Head.Template()) {
			return nothingToAsk(0), nil
		}
		corpus, err := o.corpusRequests(subjects)
		if err != nil {
			return nil, err
		}
		cases, err := o.behaviourCases(len(corpus.Groups) > 0)
		if errors.Is(err, errNoCases) {
			return o.unable(err)
		}
		if err != nil {
			return nil, err
		}
		counts := regress.Behaviour{LeftOut: len(cases), CorpusSame: corpus.Requests()}
		if onlyTemplates {
			cases = behaviour.Affected(cases, sides.Base, sides.Head)
			corpus.Groups = behaviour.AffectedGroups(corpus.Groups, sides.Base, sides.Head)
		}
		counts.LeftOut -= len(cases)
		counts.CorpusSame -= corpus.Requests()
		if len(cases)+len(corpus.Groups) == 0 {
			return nothingToAsk(counts.LeftOut), nil
		}
		corpus, counts.CorpusLeftOut = corpus.Bounded(o.requests)
		asker := sideAsker{subjects: subjects, driver: o.driver, folder: folder}
		for _, side := range []string{regress.SideBase, regress.SideHead} {
			if _, _, err := asker.open(ctx, side); err != nil {
				return o.unable(fmt.Errorf("%s cannot run: %w", side, err))
			}
		}
		if counts.NotServing, err = behaviour.NotServing(ctx, asker.ask, progress); err != nil || counts.NotServing != nil {
			counts.Answers = []regress.Answer{}
			return &counts, err
		}
		return compareAnswers(ctx, cases, corpus, counts, asker.ask, progress)
	}
}

// compareAnswers compares the answers to cases and to the requests of a corpus. counts has the numbers of
// those that are left out.
func compareAnswers(ctx context.Context, cases []*behave.Case, corpus behaviour.Corpus, counts regress.Behaviour, ask behaviour.Ask, progress func(string, int, int)) (*regress.Behaviour, error) {
	found, err := behaviour.Compare(ctx, cases, ask, progress)
	if err != nil {
		return found, err
	}
	found.LeftOut = counts.LeftOut
	ofCorpus, err := corpus.Compare(ctx, ask, progress)
	if err != nil {
		return found, err
	}
	ofCorpus.CorpusLeftOut, ofCorpus.CorpusSame = counts.CorpusLeftOut, counts.CorpusSame
	found.Add(ofCorpus)
	return found, nil
}

// errNoCases is the error when no cases are named and the default folder of cases does not exist.
var errNoCases = fmt.Errorf("there is no folder %s here: name cases with --cases", caseFolder)

// behaviourCases returns the cases. If there is a corpus, the default folder of cases need not exist.
func (o *regressOptions) behaviourCases(corpus bool) ([]*behave.Case, error) {
	if len(o.cases) > 0 {
		return o.named, nil
	}
	if _, err := os.Stat(caseFolder); err != nil {
		if corpus {
			return nil, nil
		}
		return nil, errNoCases
	}
	return loadCases([]string{caseFolder})
}

// corpusRequests derives requests from the manifests of the named corpus, as case record does.
func (o *regressOptions) corpusRequests(subjects [2]scenario.Subject) (behaviour.Corpus, error) {
	corpus := behaviour.Corpus{Known: knownCaseNames()}
	if len(o.corpus) == 0 || o.requests == 0 {
		return corpus, nil
	}
	clusters, flags, err := clusterfiles.ReadManifests(o.corpus)
	if err != nil {
		return corpus, err
	}
	meaning := map[string]string{} // without flags that name objects: cases have objects of their own
	for flag, value := range scenario.Over(subjects[1].Flags, subjects[0].Flags) {
		if kept, err := derive.Flags(map[string]string{flag: value}); err == nil {
			maps.Copy(meaning, kept)
		}
	}
	served := scenario.Over(flags, subjects[0].Flags)
	namespace, name, _ := strings.Cut(cmp.Or(served["configmap"], configMapOf(subject.Subject{})), "/")
	taken := map[string]bool{}
	for _, c := range clusters {
		manifests, err := manifest.Parse(c.Name, c.Manifests)
		if err != nil {
			return corpus, err
		}
		derived := derive.Of(manifests, derive.Options{
			Class: cmp.Or(served["ingress-class"], "nginx"), ConfigMap: types.NamespacedName{Namespace: namespace, Name: name}, Flags: meaning, Known: corpus.Known, Taken: taken,
		})
		corpus.Groups = append(corpus.Groups, derived.Cases...)
	}
	return corpus, nil
}

// nothingToAsk is the result if no answer can differ.
func nothingToAsk(cases int) *regress.Behaviour {
	return &regress.Behaviour{LeftOut: cases, Skipped: "both sides render the same, with the same Lua code, nginx and settings", Answers: []regress.Answer{}}
}

// unable reports why cases cannot be run: as an error if --part names the part, otherwise in the result.
func (o *regressOptions) unable(why error) (*regress.Behaviour, error) {
	if len(o.parts) > 0 {
		return nil, fmt.Errorf("--part %s: %w", regress.BehaviourPart, why)
	}
	return &regress.Behaviour{Unable: why.Error(), Answers: []regress.Answer{}}, nil
}

// sideAsker runs cases on the controllers of the sides.
type sideAsker struct {
	subjects [2]scenario.Subject
	driver   driverFlags
	folder   string
	runs     int
}

// open returns the flags of case run for a side, and its driver.
func (a *sideAsker) open(ctx context.Context, side string) (caseSubject, driver.Driver, error) {
	spec := a.subjects[0]
	if side == regress.SideHead {
		spec = a.subjects[1]
	}
	spec.Name = side
	s := caseSubject{
		installations: min(4*runtime.NumCPU(), mostInstallations), text: side,
		driver: a.driver, bundled: spec.Controller == scenario.Bundled,
	}
	s.given = subject.Of(together(spec))[0]
	d, err := s.openGiven(ctx)
	return s, d, err
}

func (a *sideAsker) ask(ctx context.Context, q behaviour.Question) (casereport.Document, error) {
	s, d, err := a.open(ctx, q.Side)
	if err != nil {
		return casereport.Document{}, err
	}
	a.runs++
	target := s.target(d, q.Cases)
	target.Recorded = q.Recorded
	target.Dir = filepath.Join(a.folder, fmt.Sprintf("run-%d-%s", a.runs, q.Side))
	if err := os.MkdirAll(target.Dir, 0o755); err != nil {
		return casereport.Document{}, err
	}
	document, err := target.run(ctx, io.Discard, q.Done)
	return document, errors.Join(err, ctx.Err())
}
