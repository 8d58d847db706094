package regress

import "windtunnel.dev/sim/regress/conf"

// Schema names the format of a report as JSON.
const Schema = "windtunnel.dev/regress/v1"

// Outcome is what a comparison found.
type Outcome string

// The outcomes.
const (
	Same    Outcome = "same"    // no cluster is rendered or tested differently, but for expected differences
	Differs Outcome = "differs" // at least one is
	Void    Outcome = "void"    // some tests could not be run, and the others show no other difference
)

// Report is the result of a comparison.
type Report struct {
	Schema   string   `json:"schema"`
	Outcome  Outcome  `json:"outcome"`
	Base     string   `json:"base"`
	Head     string   `json:"head"`
	Parts    []Part   `json:"parts"`
	Clusters Clusters `json:"clusters"`
	// Kinds are the kinds of differences between configurations: the most frequent ones first.
	Kinds []Kind `json:"kinds"`
	// Failures are the reasons why a side cannot serve a cluster.
	Failures []Failure `json:"failures"`
	// Behaviour is what the cases found; nil if the part did not run.
	Behaviour *Behaviour `json:"behaviour,omitempty"`
	// Cost is what both sides cost; nil if the part did not run.
	Cost *Cost `json:"cost,omitempty"`
	// Untested says which tests could not be run, and why.
	Untested []string `json:"untested,omitempty"`
	// Notes are remarks about what the comparison does not show.
	Notes []string `json:"notes,omitempty"`
}

// Clusters counts the clusters by their result. Each is in exactly one of the counts but All.
type Clusters struct {
	All       int `json:"all"`
	Identical int `json:"identical"` // the same bytes
	Same      int `json:"same"`      // other bytes, but equivalent for nginx
	Differing int `json:"differing"`
	Failed    int `json:"failed"` // a side cannot render it, or renders what cannot be read
}

// Kind is a kind of difference: the same change of the same directive, caused by the same line of a
// template.
type Kind struct {
	Change conf.Change `json:"change"`
	// Directive is the directive; with several values, its name and an ellipsis.
	Directive string `json:"directive"`
	// Was is the directive of base, if it is changed.
	Was string `json:"was,omitempty"`
	// Place has the names of the blocks around the directive, such as http/server/location.
	Place string `json:"place"`
	// Blocks counts the blocks that have the difference, and Of all such blocks of the corpus, on the side that has more. For a directive in an if, these are the locations or servers around it.
	Blocks int `json:"blocks"`
	Of     int `json:"of"`
	// Clusters counts the clusters that have the difference.
	Clusters int `json:"clusters"`
	// Cause is the line of the template that differs; nil if none explains the difference, or settings alone do.
	Cause *Cause `json:"cause,omitempty"`
	// Settings are the settings that explain the difference, together with the cause if there is one: base with all of them would show it, and with fewer it would not.
	Settings []string `json:"settings,omitempty"`
	// Written are the lines of the templates that write the directive.
	Written Written `json:"written"`
	// Needs are the annotations and ConfigMap keys without which the smallest cluster would not show the difference.
	Needs []string `json:"needs,omitempty"`
	// Objects are some of the objects that are affected, and MoreObjects the number of others.
	Objects     []string `json:"objects,omitempty"`
	MoreObjects int      `json:"moreObjects,omitempty"`
	Example     Example  `json:"example"`
	// Minimal is the smallest cluster that shows the difference.
	Minimal *Minimal `json:"minimal,omitempty"`
	// Expected is the declaration that the difference is wanted; it does not count for the outcome.
	Expected *Expectation `json:"expected,omitempty"`

	key kindKey
}

// Cause is a line of a template that differs between the sides.
type Cause struct {
	Side string `json:"side"` // base if only base has the line, otherwise head
	Site
	Text string `json:"text"`
}

// Written says which line of each side's template writes a directive.
type Written struct {
	Base *Site `json:"base,omitempty"`
	Head *Site `json:"head,omitempty"`
}

// Example is one place with a difference.
type Example struct {
	Cluster string   `json:"cluster"`
	Object  string   `json:"object,omitempty"`
	Path    []string `json:"path,omitempty"` // the blocks around the directive
	// BaseLine and HeadLine are lines of nginx.conf; 0 if the side has none.
	BaseLine int    `json:"baseLine,omitempty"`
	HeadLine int    `json:"headLine,omitempty"`
	Base     string `json:"base,omitempty"`
	Head     string `json:"head,omitempty"`
}

// Minimal is a minimised cluster.
type Minimal struct {
	Objects   []string `json:"objects"`
	Manifests string   `json:"manifests"`
	// File is the name of the file with the manifests, relative to the folder of the report; empty without objects.
	File string `json:"file,omitempty"`
}

// The stages at which a side can fail.
const (
	StageRender = "render"
	StageParse  = "parse"
	StageTest   = "nginx -t"
)

// Failure is a reason why a side cannot serve some clusters.
type Failure struct {
	Stage string `json:"stage"`
	// Sides are base, head or both. A failure of both is not a difference.
	Sides    string `json:"sides"`
	Reason   string `json:"reason"` // of the example
	Clusters int    `json:"clusters"`
	// Cause, Settings and Written are as in Kind.
	Cause    *Cause   `json:"cause,omitempty"`
	Settings []string `json:"settings,omitempty"`
	Written  *Site    `json:"written,omitempty"`
	Cluster  string   `json:"cluster"` // the smallest one
	Object   string   `json:"object,omitempty"`
	// Line and Text are the line of nginx.conf; 0 if none is known.
	Line    int      `json:"line,omitempty"`
	Text    string   `json:"text,omitempty"`
	Needs   []string `json:"needs,omitempty"`
	Minimal *Minimal `json:"minimal,omitempty"`
	// Expected is the declaration that the failure is wanted; it does not count for the outcome.
	Expected *Expectation `json:"expected,omitempty"`
}

// SidesBoth is the value of Failure.Sides for failures that are no difference.
const (
	SideBase  = "base"
	SideHead  = "head"
	SidesBoth = "both"
)

func (r *Report) outcome() Outcome {
	for _, f := range r.Failures {
		if f.Sides != SidesBoth && f.Expected == nil {
			return Differs
		}
	}
	for _, k := range r.Kinds {
		if k.Expected == nil {
			return Differs
		}
	}
	if r.Behaviour != nil {
		if down := r.Behaviour.NotServing; down != nil && down.Sides != SidesBoth {
			return Differs
		}
		for _, a := range r.Behaviour.Answers {
			if a.Expected == nil {
				return Differs
			}
		}
	}
	if r.Cost != nil && len(r.Cost.Unexpected()) > 0 {
		return Differs
	}
	if len(r.Untested) > 0 || r.Behaviour != nil && (len(r.Behaviour.NotCompared) > 0 || r.Behaviour.NotServing != nil) || r.Cost != nil && r.Cost.Void() {
		return Void
	}
	return Same
}
