package event

import (
	"errors"
	"iter"
	"slices"
	"testing"
	"time"
)

func logOf(err error, times ...int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for _, at := range times {
			if !yield(Event{At: time.Duration(at)}, nil) {
				return
			}
		}
		if err != nil {
			yield(Event{}, err)
		}
	}
}

func TestMergedEventsAreInOrder(t *testing.T) {
	var got []int
	for e, err := range Merge(logOf(nil, 1, 4, 9), logOf(nil), logOf(nil, 2, 4, 5, 11), logOf(nil, 3)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, int(e.At))
	}
	if want := []int{1, 2, 3, 4, 4, 5, 9, 11}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMergeEndsWithAnError(t *testing.T) {
	torn := errors.New("torn")
	var failed error
	seen := 0
	for _, err := range Merge(logOf(torn, 1), logOf(nil, 2, 3)) {
		if err != nil {
			failed = err
			continue
		}
		seen++
	}
	if !errors.Is(failed, torn) || seen != 1 {
		t.Errorf("%v after %d events, want the error after 1", failed, seen)
	}
}

// A caller that stops early leaves no log open.
func TestMergeCanBeStopped(t *testing.T) {
	ended := 0
	endless := func(yield func(Event, error) bool) {
		defer func() { ended++ }()
		for yield(Event{}, nil) {
		}
	}
	for range Merge(endless, endless) {
		break
	}
	if ended != 2 {
		t.Errorf("%d of 2 logs were ended", ended)
	}
}
