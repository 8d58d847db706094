package simulate

import (
	"math/rand/v2"
	"testing"
	"time"
)

// One processor with Poisson arrivals and constant work is an M/D/1 queue: a task waits for
// ρD / 2(1-ρ) on average (Pollaczek and Khinchine).
func TestServersAreAnMD1Queue(t *testing.T) {
	const work, load = 1.0, 0.7
	random := rand.New(rand.NewPCG(1, 1))
	s := make(servers, 1)
	now, waited := 0.0, 0.0
	const tasks = 200_000
	for range tasks {
		now += random.ExpFloat64() * work / load
		waited += s.take(seconds(now), seconds(work)).Seconds() - work - now
	}
	want := load * work / 2 / (1 - load)
	if got := waited / tasks; got < 0.97*want || got > 1.03*want {
		t.Errorf("waited for %v on average, want %v", got, want)
	}
}

func TestLimiter(t *testing.T) {
	l := newLimiter(0.5)
	for i, want := range []time.Duration{10, 12, 14} {
		if got := l.reserve(10 * time.Second); got != want*time.Second {
			t.Errorf("token %d: got %v, want %v s", i, got, want)
		}
	}
	if l.take(15 * time.Second) {
		t.Error("a token before its time")
	}
	if !l.take(20*time.Second) || l.take(20*time.Second) {
		t.Error("a bucket holds one token")
	}
}

func TestEveryCostIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for i, row := range Table {
		if row.Name == "" || row.Doc == "" || len(row.Terms) == 0 || row.Unit != "s" && row.Unit != "MiB" || seen[row.Name] {
			t.Errorf("cost %d: %+v", i, row)
		}
		seen[row.Name] = true
	}
}
