package regress

import "context"

// Behaviour is what the behaviour cases found.
type Behaviour struct {
	// Cases counts the cases that both sides answered.
	Cases int `json:"cases"`
	// LeftOut counts the cases that were not run, because both sides render the same for them.
	LeftOut int `json:"leftOut,omitempty"`
	// CorpusRequests counts the requests that follow from the manifests of the corpus and were asked of
	// both sides; CorpusLeftOut those that were not, because of the limit, and CorpusSame those that were
	// not, because both sides render the same for them.
	CorpusRequests int `json:"corpusRequests,omitempty"`
	CorpusLeftOut  int `json:"corpusLeftOut,omitempty"`
	CorpusSame     int `json:"corpusSame,omitempty"`
	// Skipped says why no case had to be asked: nothing can differ.
	Skipped string `json:"skipped,omitempty"`
	// Unable says why no case could be asked, though answers may differ.
	Unable string `json:"unable,omitempty"`
	// NotServing says that a side's controller does not start, or serves nothing. Then no case was asked.
	NotServing *NotServing `json:"notServing,omitempty"`
	// Answers are the kinds of answers that differ, in the order of what a client feels.
	Answers []Answer `json:"answers"`
	// Unstable counts the steps that differed once, but not when they were asked again.
	Unstable int `json:"unstable,omitempty"`
	// UnstableCases are the cases of these steps.
	UnstableCases []string `json:"unstableCases,omitempty"`
	// BothFail are the cases that fail on both sides in the same way, which is no difference.
	BothFail []string `json:"bothFail,omitempty"`
	// NotCompared says which cases have no answers of a side, and why: a text for each reason.
	NotCompared []string `json:"notCompared,omitempty"`
}

// NotServing says which controllers do not start, or serve nothing.
type NotServing struct {
	Sides  string `json:"sides"`  // base, head or both. If neither serves, nothing can be compared.
	Reason string `json:"reason"` // of the first of them
}

// Answer is a kind of difference between answers.
type Answer struct {
	// Effect is what a client feels, such as: another status.
	Effect string `json:"effect"`
	// Steps counts the steps of cases that differ in this way.
	Steps int `json:"steps"`
	// Case, Place and Request are the first of them; Cases are all cases.
	Case    string   `json:"case"`
	Place   string   `json:"place"` // file and line
	Request string   `json:"request"`
	Cases   []string `json:"cases"`
	// Causes are the annotations and keys that the steps are about.
	Causes []string `json:"causes,omitempty"`
	Values []Value  `json:"values"`
	// Expected is the declaration that the difference is wanted; it does not count for the outcome.
	Expected *Expectation `json:"expected,omitempty"`
}

// Value is a part of an answer that differs.
type Value struct {
	What string `json:"what"` // such as status, or header Location
	Base string `json:"base"`
	Head string `json:"head"`
}

// Add adds the results of the requests of a corpus.
func (b *Behaviour) Add(corpus *Behaviour) {
	b.CorpusRequests, b.CorpusLeftOut, b.CorpusSame = corpus.CorpusRequests, corpus.CorpusLeftOut, corpus.CorpusSame
	b.Answers = append(b.Answers, corpus.Answers...)
	b.Unstable += corpus.Unstable
	b.UnstableCases = append(b.UnstableCases, corpus.UnstableCases...)
	b.NotCompared = append(b.NotCompared, corpus.NotCompared...)
}

// behave runs the behaviour cases. If none can be run, the effect of other Lua code, another nginx or
// another controller is untested, because it does not show in configurations.
func (r *runner) behave(ctx context.Context, report *Report) (err error) {
	if r.Behaviour == nil || !r.does(BehaviourPart) {
		return nil
	}
	report.Behaviour, err = r.Behaviour(ctx, r.Progress)
	if err == nil && report.Behaviour.Unable != "" && !r.SameProgram {
		report.Untested = append(report.Untested, "answers to requests, which alone show what the other Lua code, nginx or controller does: "+report.Behaviour.Unable)
	}
	return err
}

// AnswerChange is the value of Expectation.Change for answers that differ.
const AnswerChange = "answer"

// coversAnswer reports whether answers that differ are expected: each part of them that differs must
// be the one that is declared, in the case that is declared.
func (e Expectation) coversAnswer(a Answer) bool {
	if e.Change != AnswerChange {
		return false
	}
	for _, v := range a.Values {
		if v.What != e.Directive {
			return false
		}
	}
	for _, name := range a.Cases {
		if e.Place != "" && e.Place != name {
			return false
		}
	}
	return true
}

// answers returns the answers that differ.
func (r *Report) answers() []Answer {
	if r.Behaviour == nil {
		return nil
	}
	return r.Behaviour.Answers
}
