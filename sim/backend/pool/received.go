package pool

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"windtunnel.dev/sim/backend"
)

// scripted is the part of a claim that makes a pod follow a script or record its requests. The
// order received uses it as well.
type scripted struct {
	Script *backend.Script `json:"script,omitempty"` // nil: none
	// Record is how many records the process keeps; 0: it does not record.
	Record int `json:"record,omitempty"`
	// Above is an exclusive lower bound of the numbers of the records, so that no other pod of the
	// fleet has the same numbers.
	Above int `json:"above,omitempty"`
	// Since, for received, is the Seq after which records are wanted.
	Since int `json:"since,omitempty"`
}

func (s scripted) recording() *backend.Recording {
	if s.Record <= 0 {
		return nil
	}
	return backend.NewRecording(s.Record, s.Above)
}

// batch is the answer to the order received.
type batch struct {
	Records []backend.Received `json:"records"`
	More    bool               `json:"more,omitempty"` // ask again
}

// maxBatch bounds the bodies of a batch, in bytes. One record may exceed it.
const maxBatch = 4 << 20

// received answers 200 with the records of the pod that the process runs, or ran last.
func (s *Server) received(w http.ResponseWriter, r *http.Request) {
	o, ok := s.read(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	err, recording := s.checkPod(o), s.recording
	s.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	b := batch{Records: recording.Received(o.Since)}
	size := 0
	for i, record := range b.Records {
		if size += len(record.Body); size > maxBatch && i > 0 {
			b.Records, b.More = b.Records[:i], true
			break
		}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(b) // it fails only if the client has gone
}

// records are the fetched records of a fleet's pods.
type records struct {
	fetching sync.Mutex // held, before mu, while records are fetched

	mu     sync.Mutex
	keep   int // 0: pods do not record
	starts int // of pods that record
	seq    int
	kept   []backend.Received // the oldest first
	open   map[int]int        // the Seq of each that was not done when it was fetched, by number
	last   map[int]int        // the number of the newest of each pod, by the pod's place in starts
}

// stride is the size of the range of record numbers of each pod.
const stride = 1_000_000

// part returns the part of a claim for a pod with the script.
func (r *records) part(script *backend.Script) scripted {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keep == 0 {
		return scripted{Script: script}
	}
	r.starts++
	return scripted{Script: script, Record: r.keep, Above: (r.starts - 1) * stride}
}

// StartScripted implements backend.ScriptedFleet.
func (f *Fleet) StartScripted(name, service string, s backend.Script) (backend.Pod, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return f.start(name, service, &s)
}

// Record implements backend.ScriptedFleet. Each process keeps that many records as well.
func (f *Fleet) Record(keep int) {
	f.records.mu.Lock()
	defer f.records.mu.Unlock()
	f.records.keep = keep
	f.records.open, f.records.last = map[int]int{}, map[int]int{}
}

// Received implements backend.ScriptedFleet: it fetches the records from the processes. The order of
// records that it fetches at once follows the clocks of their machines.
func (f *Fleet) Received(since int) ([]backend.Received, error) {
	f.mu.Lock()
	pods := slices.AppendSeq(slices.Collect(maps.Values(f.pods)), maps.Keys(f.ending))
	f.mu.Unlock()
	err := f.collect(pods...)
	f.records.mu.Lock()
	defer f.records.mu.Unlock()
	kept := f.records.kept
	return slices.Clone(kept[min(max(since-(f.records.seq-len(kept)), 0), len(kept)):]), err
}

// collect fetches what the pods have received since the last time.
func (f *Fleet) collect(pods ...*pod) error {
	f.records.fetching.Lock()
	defer f.records.fetching.Unlock()
	return f.collectLocked(pods)
}

// collectLast fetches the last records of a pod that is gone: its process forgets them when it runs
// another pod.
func (f *Fleet) collectLast(p *pod) error {
	f.records.fetching.Lock()
	defer f.records.fetching.Unlock()
	defer func() { p.records = false }()
	return f.collectLocked([]*pod{p})
}

func (f *Fleet) collectLocked(pods []*pod) error {
	var mu sync.Mutex
	var all []backend.Received
	var failures []error
	var orders errgroup.Group
	orders.SetLimit(parallelRenewals)
	for _, p := range pods {
		if !p.records {
			continue
		}
		orders.Go(func() error {
			fetched, err := f.fetch(p)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, fetched...)
			failures = append(failures, err)
			return nil
		})
	}
	orders.Wait()
	f.records.merge(all)
	return errors.Join(failures...)
}

// fetch returns the records of a pod that are new, or were incomplete when they were last fetched.
func (f *Fleet) fetch(p *pod) ([]backend.Received, error) {
	var all []backend.Received
	for since, done := p.fetched, true; ; {
		var b batch
		if err := f.reach.sendFor(p.member, "received", order{Name: p.name, scripted: scripted{Since: since}}, &b); err != nil {
			return all, err
		}
		for _, record := range b.Records {
			since = record.Seq
			if done = done && record.Done; done {
				p.fetched = since
			}
		}
		all = append(all, b.Records...)
		if !b.More {
			return all, nil
		}
	}
}

// merge replaces the records that are known, and appends the others in the order of their arrival.
func (r *records) merge(fetched []backend.Received) {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortFunc(fetched, func(a, b backend.Received) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Number, b.Number))
	})
	known := maps.Clone(r.last)
	for _, record := range fetched {
		of := (record.Number - 1) / stride
		if record.Number > known[of] {
			r.seq++
			record.Seq = r.seq
			r.kept = append(r.kept, record)
			r.last[of] = max(r.last[of], record.Number)
		} else {
			record.Seq = r.open[record.Number]
			if place := record.Seq - 1 - (r.seq - len(r.kept)); place >= 0 {
				r.kept[place] = record
			}
		}
		if record.Done {
			delete(r.open, record.Number)
		} else {
			r.open[record.Number] = record.Seq
		}
	}
	if over := len(r.kept) - r.keep; over > 0 {
		r.kept = slices.Delete(r.kept, 0, over)
	}
}
