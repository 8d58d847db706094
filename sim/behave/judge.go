package behave

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// Judgement is the result of judging one step.
type Judgement struct {
	Failures []Failure
	Unknown  []string // why some expectations could not be checked, without repetition
}

// Judge compares the answers to a request with what its step expects, of ingress-nginx or of the
// bundled controller. There is one exchange for each time that the request was sent.
func Judge(c *Case, step Step, exchanges []Exchange, bundled bool) Judgement {
	return judgeAnswers(c, step, step.expected(bundled), exchanges)
}

// JudgeChange compares a change with what its step expects.
func JudgeChange(c *Case, step Step, change Change, bundled bool) Judgement {
	return judgeChange(c, step, step.expected(bundled), change)
}

// expected returns what a step expects of ingress-nginx, or of the bundled controller.
func (s Step) expected(bundled bool) Expect {
	if bundled && s.Bundled != nil {
		return *s.Bundled
	}
	return s.Expect
}

func judgeAnswers(c *Case, step Step, expect Expect, exchanges []Exchange) Judgement {
	j := &judge{file: c.File, step: step}
	if len(exchanges) == 0 {
		j.fail("answer", "missing", "one")
	}
	for i, exchange := range exchanges {
		j.answer, j.answers = i+1, len(exchanges)
		j.exchange(expect, exchange)
	}
	j.answer, j.answers = 0, 0
	j.all(expect, exchanges)
	return j.found
}

func judgeChange(c *Case, step Step, expect Expect, change Change) Judgement {
	j := &judge{file: c.File, step: step}
	var message []string
	if change.Rejected != "" {
		message = []string{change.Rejected}
	}
	if expect.Rejected == nil {
		expect.Rejected = &Match{Absent: true}
	}
	j.match("rejection", expect.Rejected, message)
	switch want := expect.Reload; {
	case want == nil:
	case change.ReloadsUnknown:
		j.unknown("reloads of this subject cannot be seen")
	case *want && change.Reloads == 0:
		j.fail("number of reloads", "0", "1 or more")
	case !*want && change.Reloads > 0:
		j.fail("number of reloads", strconv.Itoa(change.Reloads), "0")
	}
	j.lines("error log", expect.ErrorLog, change.Errors, change.LogsUnknown)
	return j.found
}

// judge collects the failures of one step.
type judge struct {
	file            string
	step            Step
	answer, answers int // the answer that is judged, from 1; 0 for all
	found           Judgement
}

// fail adds a failure, or counts it if an earlier answer failed in the same field.
func (j *judge) fail(field, got, want string) {
	if j.answer > 0 {
		for i := range j.found.Failures {
			if before := &j.found.Failures[i]; before.Answer > 0 && before.Field == field {
				before.Others++
				return
			}
		}
	}
	j.found.Failures = append(j.found.Failures, Failure{
		File: j.file, Line: j.step.Line, Step: j.step.action(), Answer: j.answer, Answers: j.answers, Field: field, Got: got, Want: want, About: j.step.About,
	})
}

func (j *judge) unknown(reason string) {
	if !slices.Contains(j.found.Unknown, reason) {
		j.found.Unknown = append(j.found.Unknown, reason)
	}
}

// match checks a condition on texts, if there is one.
func (j *judge) match(field string, match *Match, texts []string) {
	if match == nil {
		return
	}
	if want := match.unmet(texts); want != "" {
		j.fail(field, show(texts), want)
	}
}

// equal checks a text, if one is expected.
func (j *judge) equal(field, got, want string) {
	if want != "" && got != want {
		j.fail(field, orAbsent(got), want)
	}
}

func orAbsent(text string) string {
	if text == "" {
		return "absent"
	}
	return text
}

// all checks what is expected of all answers together.
func (j *judge) all(expect Expect, exchanges []Exchange) {
	services, pods, statuses := map[string]int{}, map[string]bool{}, map[int]int{}
	var access, errors []string
	var logsUnknown bool
	for _, exchange := range exchanges {
		service := None
		if answered := exchange.answered(); answered != nil {
			service = answered.Service
			pods[answered.Service+"/"+answered.Pod] = true
		}
		services[service]++
		statuses[exchange.Status]++
		access, errors = append(access, exchange.Access...), append(errors, exchange.Errors...)
		logsUnknown = logsUnknown || exchange.LogsUnknown
	}
	j.shares(expect.Shares, services, len(exchanges))
	for _, status := range sorted(expect.Statuses) {
		if want := expect.Statuses[status].unmet(statuses[status]); want != "" {
			j.fail(fmt.Sprintf("number of answers with status %d", status), strconv.Itoa(statuses[status]), want)
		}
	}
	if expect.SamePod != nil {
		switch same := *expect.SamePod; {
		case same && len(pods) != 1:
			j.fail("number of pods that answered", strconv.Itoa(len(pods)), "1")
		case !same && len(pods) < 2:
			j.fail("number of pods that answered", strconv.Itoa(len(pods)), "2 or more")
		}
	}
	j.resumption(expect.TLS, exchanges)
	j.lines("access log", expect.AccessLog, access, logsUnknown)
	j.lines("error log", expect.ErrorLog, errors, logsUnknown)
}

// shares checks the share of each service. A service that is not expected has the share 0.
func (j *judge) shares(wanted map[string]float64, counts map[string]int, n int) {
	if len(wanted) == 0 {
		return
	}
	services := sorted(wanted)
	for _, service := range sorted(counts) {
		if _, ok := wanted[service]; !ok {
			services = append(services, service)
		}
	}
	for _, service := range services {
		if count := counts[service]; unlikely(count, n, wanted[service], len(wanted)) {
			j.fail("share of "+service, fmt.Sprintf("%.4g (%d of %d)", float64(count)/float64(n), count, n), fmt.Sprintf("%.4g", wanted[service]))
		}
	}
}

// lines checks the number of lines of a log. Without a count, one must match.
func (j *judge) lines(log string, want *Lines, lines []string, unknown bool) {
	if want == nil {
		return
	}
	if unknown {
		j.unknown("logs of this subject cannot be read")
		return
	}
	field := "number of lines in the " + log
	if want.Matches != "" {
		field += " that match /" + want.Matches + "/"
	}
	matching, err := want.matching(lines)
	if err != nil {
		j.fail(field, "unknown", err.Error())
		return
	}
	if wanted := want.count().unmet(matching); wanted != "" {
		j.fail(field, strconv.Itoa(matching), wanted)
	}
}

// matching returns how many lines match.
func (l Lines) matching(lines []string) (int, error) {
	pattern, err := regexp.Compile(l.Matches)
	if err != nil {
		return 0, err
	}
	matching := 0
	for _, line := range lines {
		if pattern.MatchString(line) {
			matching++
		}
	}
	return matching, nil
}

// count returns how many lines must match.
func (l Lines) count() Count {
	if l.Count == nil {
		return Count{Min: new(1)}
	}
	return *l.Count
}

// Lacks reports whether the condition needs further lines. A nil condition does not.
func (l *Lines) Lacks(lines []string) bool {
	if l == nil {
		return false
	}
	matching, err := l.matching(lines)
	least := l.count().Min
	return err == nil && least != nil && matching < *least
}

// Settled reports whether further lines cannot change whether the condition holds. A nil condition
// is settled.
func (l *Lines) Settled(lines []string) bool {
	if l == nil {
		return true
	}
	matching, err := l.matching(lines)
	want := l.count()
	switch {
	case err != nil:
		return true
	case want.Max != nil:
		return matching > *want.Max
	}
	return want.unmet(matching) == ""
}
