package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
)

// answers are the first part of a report: an answer to each question of its reader.
type answers struct {
	Asked  string // the summary of the scenario
	Ran    string // the subjects, the length and the load
	Result string
	Valid  string
	Sound  soundness
	Worth  []notice // what is worth a look, in order of subjects and time
	Quiet  string   // in place of Worth, if nothing is
}

// notice is something that is worth a look.
type notice struct {
	Text string
	Link string // the fragment of the page that shows it
}

// answer is an answer as lines of text. Those after the first are items of a list.
type answer struct {
	Question string
	Texts    []string
}

// lines returns the answers for readers of plain text.
func (a answers) lines() []answer {
	worth := []string{a.Quiet}
	if len(a.Worth) == 1 {
		worth = []string{a.Worth[0].Text}
	} else if len(a.Worth) > 1 {
		worth = []string{fmt.Sprintf("%d items:", len(a.Worth))}
		for _, n := range a.Worth {
			worth = append(worth, n.Text)
		}
	}
	return []answer{
		{"Scenario", []string{strings.TrimSpace(a.Asked + " " + a.Ran)}},
		{"Result", []string{a.Result}},
		{"Valid", []string{a.Valid}},
		{"Worth a look", worth},
	}
}

func answersOf(result measure.Result, series measure.Series, checks []judge.Check) answers {
	a := answers{Asked: result.Run.Summary, Ran: ranOf(result), Result: resultOf(result, checks), Worth: worthOf(result, series)}
	a.Valid, a.Sound = validOf(result, checks)
	if len(a.Worth) == 0 {
		a.Quiet = quietOf(result)
	}
	return a
}

// ranOf says which subjects ran, how long, and under which load.
func ranOf(result measure.Result) string {
	subjects := result.Subjects
	if len(subjects) == 0 || !slices.ContainsFunc(subjects, func(s measure.Subject) bool { return s.Measured > 0 }) {
		return "Nothing was measured."
	}
	took := spanned(subjects, func(s measure.Subject) float64 { return s.Measured.Seconds() }, Seconds)
	who := "The subject " + subjects[0].Name + " ran for " + took
	if len(subjects) > 1 {
		who = "The subjects " + listOf(namesOf(subjects)) + " took turns, " + took + " each"
	}
	load := []string{loadOf(subjects), changesOf(subjects)}
	if faults := faultsOf(subjects); faults != "" {
		load = append(load, faults)
	}
	return who + ", with " + listOf(load) + "."
}

func loadOf(subjects []measure.Subject) string {
	if !slices.ContainsFunc(subjects, func(s measure.Subject) bool { return s.Requests.Sent > 0 }) {
		return "no traffic"
	}
	rate := func(s measure.Subject) float64 {
		if s.Measured == 0 {
			return 0
		}
		return float64(s.Requests.Sent) / s.Measured.Seconds()
	}
	return "about " + spanned(subjects, rate, func(n float64) string {
		if n > 0 && n < 10 {
			return digits(n)
		}
		return count(int(math.Round(n)))
	}) + " requests/s"
}

func changesOf(subjects []measure.Subject) string {
	made := func(s measure.Subject) float64 { return float64(s.Changes.Made) }
	low, high := extremes(subjects, made)
	if high == 0 {
		return "no cluster changes"
	}
	if low == 1 && high == 1 {
		return "1 cluster change"
	}
	return spanned(subjects, made, func(n float64) string { return count(int(n)) }) + " cluster changes"
}

// faultsOf names the faults of the scenario; it is empty if there were none.
func faultsOf(subjects []measure.Subject) string {
	var names []string
	for _, s := range subjects {
		for _, f := range s.Struck {
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return plural.Noun(len(names), "the fault ", "the faults ") + listOf(names)
}

// quietOf says that nothing is worth a look, and how meaningful that is.
func quietOf(result measure.Result) string {
	var bounds []string
	for _, s := range result.Subjects {
		if s.Requests.Sent > 0 {
			bounds = append(bounds, fmt.Sprintf("%s %s (%s requests)", percent(s.Requests.Bound), forSubject(result, s), count(s.Requests.Sent)))
		}
	}
	if len(bounds) == 0 {
		return "Nothing, but no requests were sent."
	}
	return "Nothing: no request failed. Upper bound of the failure rate at 95 % confidence: " + listOf(trimmed(bounds)) + "."
}

func forSubject(result measure.Result, s measure.Subject) string {
	if len(result.Subjects) == 1 {
		return ""
	}
	return "with " + s.Name
}

// trimmed joins the words of each text by single spaces.
func trimmed(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, strings.Join(strings.Fields(text), " "))
	}
	return all
}

func namesOf(subjects []measure.Subject) (names []string) {
	for _, s := range subjects {
		names = append(names, s.Name)
	}
	return names
}

// spanned formats the values of all subjects: as one value if all look the same, otherwise as a
// range.
func spanned(subjects []measure.Subject, of func(measure.Subject) float64, format func(float64) string) string {
	low, high := extremes(subjects, of)
	if format(low) == format(high) {
		return format(low)
	}
	return format(low) + " to " + format(high)
}

func extremes(subjects []measure.Subject, of func(measure.Subject) float64) (low, high float64) {
	low, high = of(subjects[0]), of(subjects[0])
	for _, s := range subjects[1:] {
		low, high = min(low, of(s)), max(high, of(s))
	}
	return low, high
}

// listOf joins texts as a sentence does: "a", "a and b", "a, b and c".
func listOf(texts []string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	last := len(texts) - 1
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

// relative says how long before or after something else an event was; what may be empty.
func relative(d time.Duration, what string) string {
	switch {
	case d.Abs() < time.Millisecond && what == "":
		return "at the same time"
	case d.Abs() < time.Millisecond:
		return "at the same time as " + what
	case d < 0:
		return strings.TrimSpace(duration(-d) + " before " + what)
	}
	return strings.TrimSpace(duration(d) + " after " + what)
}
