package mutate

import (
	"cmp"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Ranker orders cases by how likely they are to watch a line: by the number of rare words that the
// text of the case has in common with the line and the lines around it.
type Ranker struct {
	words map[string]map[string]bool // of each case
	rare  map[string]float64         // the weight of a word: the rarer, the higher
}

// NewRanker returns a ranker of cases, given their texts by name.
func NewRanker(texts map[string]string) *Ranker {
	r := &Ranker{words: map[string]map[string]bool{}, rare: map[string]float64{}}
	count := map[string]int{}
	for name, text := range texts {
		r.words[name] = map[string]bool{}
		for _, word := range words(name + " " + text) {
			if !r.words[name][word] {
				count[word]++
			}
			r.words[name][word] = true
		}
	}
	for word, n := range count {
		r.rare[word] = math.Log(float64(len(texts)+1) / float64(n))
	}
	return r
}

// Order returns the names of the cases, the most likely one first, for a mutant of a line of these
// files.
func (r *Ranker) Order(files map[string]string, m Mutant, names []string) []string {
	weight := weights(files, m)
	score := map[string]float64{}
	for _, name := range names {
		score[name] = r.score(weight, name)
	}
	return slices.SortedStableFunc(slices.Values(names), func(a, b string) int { return cmp.Compare(score[b], score[a]) })
}

// Similar returns the mutants, sorted by how likely a case is to watch them, the most likely first.
func (r *Ranker) Similar(files map[string]string, mutants []Mutant, name string) []Mutant {
	score := map[string]float64{}
	for _, m := range mutants {
		score[m.Name] = r.score(weights(files, m), name)
	}
	return slices.SortedStableFunc(slices.Values(mutants), func(a, b Mutant) int { return cmp.Compare(score[b.Name], score[a.Name]) })
}

// weights returns how much each word counts: those of the line most, then those of its file's name
// and of the lines around it.
func weights(files map[string]string, m Mutant) map[string]float64 {
	weight := map[string]float64{}
	add := func(text string, much float64) {
		for _, word := range words(text) {
			weight[word] = max(weight[word], much)
		}
	}
	lines := strings.Split(files[m.File], "\n")
	for i := max(m.Line-6, 0); i < min(m.Line+2, len(lines)); i++ {
		add(lines[i], 0.25)
	}
	add(strings.TrimSuffix(path.Base(m.File), path.Ext(m.File)), 0.5)
	add(m.Was, 1)
	return weight
}

func (r *Ranker) score(weight map[string]float64, name string) float64 {
	score := 0.0
	for word, much := range weight {
		if r.words[name][word] {
			score += much * r.rare[word]
		}
	}
	return score
}

var (
	wordPattern = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*|[0-9]{3,}`)
	humpPattern = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// words returns the words of a text in lower case. Names such as proxyBuffers have several.
func words(text string) []string {
	var all []string
	for _, word := range wordPattern.FindAllString(humpPattern.ReplaceAllString(text, "$1 $2"), -1) {
		if len(word) > 2 {
			all = append(all, strings.ToLower(word))
		}
	}
	return all
}
