package scenario

import (
	"fmt"
	"math"
	"time"

	"windtunnel.dev/internal/plural"
)

// The functions of this file check how much a step does, which follows from its rate and its length. They
// return what is wrong and how to mend it; "" if nothing is wrong.

// amount returns the first of these problems.
func (s Step) amount() (what, mend string) {
	for _, of := range []func() (string, string){s.changes, s.addedPods, s.addedPaths} {
		if what, mend = of(); what != "" {
			return what, mend
		}
	}
	return "", ""
}

// changes checks the number of changes of a churn.
func (s Step) changes() (what, mend string) {
	if many := TooManyChanges(s.Rate, s.For); many != "" {
		return many, fmt.Sprintf("make it %d at most", MostChanges)
	}
	if s.Churn == "" || s.Rate <= 0 || s.For <= 0 || math.Round(float64(s.Rate)*s.For.Seconds()) > 0 {
		return "", ""
	}
	least := time.Duration(math.Ceil(500/float64(s.Rate))) * time.Millisecond // half a change, which is rounded up
	return fmt.Sprintf("a churn without a change: %.3g/s for %v", float64(s.Rate), s.For), fmt.Sprintf("raise its rate, or make it last for %v or longer", least)
}

// addedPods checks the number of pods that a scale-out adds.
func (s Step) addedPods() (what, mend string) {
	if float64(s.Rate)*s.For.Seconds()*float64(s.Pods) <= MostPods {
		return "", ""
	}
	return fmt.Sprintf("%s with each change: %v for %v", plural.Of(s.Pods, "pod"), s.Rate, s.For), fmt.Sprintf("make them %d at most, by fewer pods or changes", MostPods)
}

// addedPaths checks the number of paths of new hosts.
func (s Step) addedPaths() (what, mend string) {
	if float64(s.Rate)*s.For.Seconds()*float64(s.Paths) <= MostAllPaths {
		return "", ""
	}
	return fmt.Sprintf("%s of each new host: %v for %v", plural.Of(s.Paths, "path"), s.Rate, s.For), fmt.Sprintf("make them %d at most, by fewer paths or hosts", MostAllPaths)
}
