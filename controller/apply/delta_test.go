package apply

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/wire"
)

const takesDeltas = `, "report_workers": true, "backends_delta": true, "backends_sync": "push"`

// deltaState returns a state with n backends on port 80 and a last one on the given port.
func (f *withLua) deltaState(n, port int) plan.State {
	state := f.state("delta", takesDeltas, "[]")
	var list []*wire.Backend
	add := func(name string, port int) {
		list = append(list, &wire.Backend{Name: name, JSON: fmt.Appendf(nil, `{"name":%q,"port":%d}`, name, port)})
	}
	for i := range n {
		add(fmt.Sprint("backend-", i), 80)
	}
	add("last", port)
	state.Backends = wire.NewList(list...)
	state.AcceptsDeltas = true
	return state
}

func (f *withLua) wantPosts(report Report, want ...string) {
	f.Helper()
	var paths []string
	for _, post := range report.Posts {
		paths = append(paths, post.Path)
	}
	if strings.Join(paths, " ") != strings.Join(want, " ") {
		f.Errorf("posts to %v, want %v", paths, want)
	}
}

func TestDeltasAreSentAndAllBackendsIfNginxRefusesADelta(t *testing.T) {
	f := newWithLua(t)
	f.wantPosts(f.reach(f.deltaState(50, 1)), backendsPath)
	report := f.reach(f.deltaState(50, 2))
	f.wantPosts(report, deltaPath)
	if bytes := report.Posts[0].Bytes; bytes > 100 {
		t.Errorf("a delta of %d bytes for one backend", bytes)
	}
	f.awaitServing()

	// A POST from elsewhere: nginx has other backends than we expect.
	if _, err := f.target.postOnce(t.Context(), backendsPath, []byte("[]")); err != nil {
		t.Fatal(err)
	}
	f.wantPosts(f.reach(f.deltaState(50, 3)), backendsPath)
	f.wantPosts(f.reach(f.deltaState(50, 4)), deltaPath)

	// nginx accepted a delta, but its answer was lost: the numbers differ by one.
	lost := plan.Diff(f.target.Running(), f.deltaState(50, 5))[0]
	if _, err := f.target.postOnce(t.Context(), fmt.Sprintf("%s?base=%d", deltaPath, f.target.sequence.Load()), lost.Delta); err != nil {
		t.Fatal(err)
	}
	f.wantPosts(f.reach(f.deltaState(50, 5)), backendsPath)
	f.wantPosts(f.reach(f.deltaState(50, 6)), deltaPath)

	// A worker that starts later applies the full list and all deltas, with and without a reload.
	workers, err := f.target.process.Workers()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(workers[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	f.awaitServing()
	next := f.deltaState(50, 7)
	next.Conf = next.Conf.Append([]byte("# another configuration\n"))
	f.wantPosts(f.reach(next), deltaPath)
	f.awaitServing()
	want := string(next.Backends.Body())
	if got := f.get(backendsPath); len(got) != len(want) || !strings.Contains(got, `"port":7`) {
		t.Errorf("nginx has\n%s\nwant\n%s", got, want)
	}
}

// nginx creates an empty dictionary when its size changes.
func TestAllBackendsAreSentWhenTheDictionaryIsNew(t *testing.T) {
	f := newWithLua(t)
	f.reach(f.deltaState(50, 1))
	f.dict = "6m"
	f.wantPosts(f.reach(f.deltaState(50, 2)), backendsPath)
	f.awaitServing()
}

func (f *withLua) get(path string) string {
	f.Helper()
	response, err := http.Get(f.target.control + path)
	if err != nil {
		f.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		f.Fatal(err)
	}
	return string(text)
}
