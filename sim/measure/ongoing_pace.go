package measure

import "time"

// pace counts events by second.
type pace struct {
	counts [8]int
	latest int // the latest second so far
}

// averaged is the number of seconds over which a rate is averaged.
const averaged = 3

func (p *pace) add(at time.Duration) {
	p.move(at)
	if second := int(at / time.Second); second > p.latest-len(p.counts) {
		p.counts[second%len(p.counts)]++
	}
}

// move clears the counts of seconds that are too old.
func (p *pace) move(to time.Duration) {
	second := int(to / time.Second)
	if second-p.latest >= len(p.counts) {
		p.counts, p.latest = [8]int{}, second
	}
	for p.latest < second {
		p.latest++
		p.counts[p.latest%len(p.counts)] = 0
	}
}

// rate returns the events per second of the last whole seconds before now.
func (p *pace) rate(now time.Duration) float64 {
	p.move(now)
	var sum int
	for second := p.latest - averaged; second < p.latest; second++ {
		if second >= 0 {
			sum += p.counts[second%len(p.counts)]
		}
	}
	return float64(sum) / averaged
}
