package sweep

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Setting is a value that a combination sets.
type Setting struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

// Combination is one choice of values.
type Combination struct {
	Number   int       `json:"number"`             // from 1
	Settings []Setting `json:"settings,omitempty"` // in the order of the factors; factors without one keep the scenario's own value
}

// String returns the settings as PATH=VALUE, separated by commas.
func (c Combination) String() string {
	if len(c.Settings) == 0 {
		return "the scenario's own values"
	}
	var all []string
	for _, s := range c.Settings {
		all = append(all, s.Path+"="+s.Value)
	}
	return strings.Join(all, ", ")
}

// notInFolders matches characters that the name of a folder must not contain.
var notInFolders = regexp.MustCompile(`[^A-Za-z0-9._=-]+`)

// longestFolder limits the names of folders; file systems permit 255.
const longestFolder = 120

// Folder returns the name of the combination's folder.
func (c Combination) Folder() string {
	name := fmt.Sprintf("%03d", c.Number)
	for _, s := range c.Settings {
		name += "-" + short(s.Path) + "=" + s.Value
	}
	if len(c.Settings) == 0 {
		name += "-own"
	}
	name = notInFolders.ReplaceAllString(name, "_")
	return name[:min(len(name), longestFolder)]
}

// ValueOf returns the value that the combination has for a factor: its own setting, or else the
// scenario's own value.
func (c Combination) ValueOf(f Factor) string {
	for _, s := range c.Settings {
		if s.Path == f.Path {
			return s.Value
		}
	}
	return f.Own
}

// combinations returns the combinations that a design runs.
func (d Design) combinations() ([]Combination, error) {
	if d.count() > MostCombinations {
		return nil, fmt.Errorf("these factors have more than %d combinations; vary fewer values, one at a time (--one-at-a-time), or run a fraction (--fraction 1/2)", MostCombinations)
	}
	var all [][]Setting
	switch {
	case d.Fraction != nil:
		plan, err := d.fractional()
		if err != nil {
			return nil, err
		}
		all = settings(plan, d.Factors)
	case d.OneAtATime:
		all = oneAtATime(d.Factors)
	default:
		all = fullFactorial(d.Factors)
	}
	made := make([]Combination, len(all))
	for i, settings := range all {
		made[i] = Combination{Number: i + 1, Settings: settings}
	}
	return made, nil
}

// count returns the number of combinations that a design runs, or a number above MostCombinations.
func (d Design) count() int {
	most := MostCombinations
	if d.Fraction != nil {
		most *= d.Fraction.Of
	}
	count := 1
	for _, f := range d.Factors {
		if d.OneAtATime {
			count += len(f.Values)
		} else {
			count *= len(f.Values)
		}
		if count > most {
			return count
		}
	}
	if d.Fraction != nil {
		count /= d.Fraction.Of
	}
	return count
}

// fullFactorial returns the settings of all combinations. The last factor varies fastest.
func fullFactorial(factors []Factor) [][]Setting {
	all := [][]Setting{nil}
	for _, f := range factors {
		var longer [][]Setting
		for _, settings := range all {
			for _, value := range f.Values {
				longer = append(longer, append(settings[:len(settings):len(settings)], Setting{f.Path, value}))
			}
		}
		all = longer
	}
	return all
}

// oneAtATime returns the settings of the scenario itself, which has none, and of each value that
// differs from the scenario's own.
func oneAtATime(factors []Factor) [][]Setting {
	all := [][]Setting{nil}
	for _, f := range factors {
		for _, value := range f.Values {
			if value != f.Own {
				all = append(all, []Setting{{f.Path, value}})
			}
		}
	}
	return all
}

// Compared returns the factors with the values that the combinations have. If one factor varies at a
// time, the scenario's own value comes first, because the others are compared with it.
func (d Design) Compared() []Factor {
	if !d.OneAtATime {
		return d.Factors
	}
	var all []Factor
	for _, f := range d.Factors {
		values := slices.DeleteFunc(slices.Clone(f.Values), func(value string) bool { return value == f.Own })
		all = append(all, Factor{Path: f.Path, Values: append([]string{f.Own}, values...), Own: f.Own})
	}
	return all
}
