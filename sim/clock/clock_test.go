package clock

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestTheQuickestExchangeCounts(t *testing.T) {
	got, err := Best([]Exchange{
		{Sent: 0, Received: 20 * ms, Theirs: 1018 * ms},         // slow on the way there
		{Sent: 100 * ms, Received: 102 * ms, Theirs: 1101 * ms}, // 2 ms
		{Sent: 200 * ms, Received: 210 * ms, Theirs: 1201 * ms},
		{Sent: 300 * ms, Received: 299 * ms, Theirs: 0}, // impossible
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Sample{Ours: 101 * ms, Offset: 1000 * ms, Bound: ms}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestNoExchangeIsAnError(t *testing.T) {
	for _, exchanges := range [][]Exchange{nil, {{Sent: 2 * ms, Received: ms}}} {
		if _, err := Best(exchanges); !errors.Is(err, ErrNoExchange) {
			t.Errorf("%v: %v", exchanges, err)
		}
	}
}

// The true offset is within the bound, however asymmetric the delays are.
func TestTheBoundHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		truth := time.Duration(random.Int64N(int64(time.Hour))) - 30*time.Minute
		var exchanges []Exchange
		for i := range 5 {
			sent := time.Duration(i) * time.Second
			there, back := time.Duration(random.Int64N(int64(10*ms))), time.Duration(random.Int64N(int64(10*ms)))
			exchanges = append(exchanges, Exchange{Sent: sent, Received: sent + there + back, Theirs: sent + there + truth})
		}
		s, err := Best(exchanges)
		if err != nil {
			t.Fatal(err)
		}
		if off := (s.Offset - truth).Abs(); off > s.Bound {
			t.Fatalf("off by %v, and the bound is %v", off, s.Bound)
		}
	}
}

func TestDriftIsTakenOut(t *testing.T) {
	track := Track{}.Add(Sample{Ours: 110 * time.Second, Offset: 6 * ms, Bound: 2 * ms}).Add(Sample{Ours: 10 * time.Second, Offset: 5 * ms, Bound: ms})
	for ours, theirs := range map[time.Duration]time.Duration{
		0:                 5 * ms, // before the first sample, its offset holds
		10 * time.Second:  10*time.Second + 5*ms,
		60 * time.Second:  60*time.Second + 5500*time.Microsecond,
		110 * time.Second: 110*time.Second + 6*ms,
		120 * time.Second: 120*time.Second + 6*ms,
	} {
		if got := track.Ours(theirs); (got - ours).Abs() > time.Microsecond {
			t.Errorf("theirs %v: got ours %v, want %v", theirs, got, ours)
		}
		if got := track.Theirs(ours); (got - theirs).Abs() > time.Microsecond {
			t.Errorf("ours %v: got theirs %v, want %v", ours, got, theirs)
		}
	}
	if got := track.Drift(); got < 9.99 || got > 10.01 {
		t.Errorf("drift %v ppm, want 10", got)
	}
	if got := track.Bound(); got != 2*ms {
		t.Errorf("bound %v, want that of the worse sample", got)
	}
}

func TestOneSampleHasNoDrift(t *testing.T) {
	track := Track{{Ours: time.Second, Offset: ms}}
	if track.Drift() != 0 || track.Ours(2*time.Second) != 2*time.Second-ms {
		t.Errorf("drift %v, ours %v", track.Drift(), track.Ours(2*time.Second))
	}
}
