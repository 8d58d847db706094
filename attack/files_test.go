package attack_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/attack"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/manifest"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/scenario"
)

// The limits for reading one hostile file, generous because other programs may be running.
const (
	fileTime   = 20 * time.Second
	fileMemory = 1 << 30 // bytes allocated in total
)

// readers are the kinds of files that a user names, with the function that reads each.
var readers = map[string]func(path string) error{
	"scenario": func(path string) error {
		_, err := scenario.Load(path, scenario.Known{})
		return err
	},
	"manifest": func(path string) error {
		_, err := manifest.Load(path)
		return err
	},
	"explain": func(path string) error {
		data, err := readfile.Read(path, manifest.Largest)
		if err != nil {
			return err
		}
		_, err = snapshot.FromYAML(snapshot.File{Name: path, Data: data})
		return err
	},
	"recording": func(path string) error {
		file, err := readfile.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = churn.Read(file)
		return err
	},
	"events": func(path string) error {
		file, err := readfile.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		_, _, err = measure.From(event.Read(file))
		return err
	},
}

const head = "apiVersion: windtunnel.dev/v1\nkind: Scenario\nmetadata: {name: x}\nspec:\n"

// hostileFiles are texts that are not valid files of their kind. want is part of the error,
// including the line if there is one.
var hostileFiles = []struct {
	kind, what, text, want string
}{
	{"scenario", "a billion services", head + "  population: {services: 1000000000}\n", ":5: a population too large"},
	{"scenario", "a billion rounds", head + "  rounds: 1000000000\n", ":5: 1000000000 rounds"},
	{"scenario", "a rate beyond all bounds", head + "  traffic:\n  - {lane: http, rate: 1e308/s, host: a.example}\n", `:6: the rate "1e308/s" is out of bounds`},
	{"scenario", "aliases of aliases", head + bomb("  config: ", "{a: b}"), ":6: a mapping is not text"},
	{"scenario", "aliases of aliases in a manifest", head + "---\napiVersion: example.com/v1\nkind: X\nmetadata: {name: x}\n" + bomb("spec: ", "{a: b}"), "excessive aliasing"},
	{"scenario", "an alias of itself", head + "  config: &a {b: *a}\n", ":5: "},
	{"scenario", "deep nesting", head + "  config: " + strings.Repeat("[", 50_000) + "\n", "exceeded max depth"},
	{"scenario", "a key twice", head + "  seed: 1\n  seed: 2\n", ":6: "},
	{"scenario", "not UTF-8", head + "  summary: \"\xff\xfe\"\n", "UTF-8"},
	{"scenario", "a NUL", head + "  summary: a\x00b\n", "control characters"},
	{"manifest", "aliases of aliases", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n" + bomb("data: ", "{a: b}"), ":1: not YAML: document contains excessive aliasing"},
	{"manifest", "deep nesting", "a: " + strings.Repeat("[", 50_000), "exceeded max depth"},
	{"manifest", "a key twice", "apiVersion: v1\nkind: A\nkind: B\n", ":3: not YAML: "},
	{"manifest", "not UTF-8", "apiVersion: v1\nkind: \xff\n", "UTF-8"},
	{"explain", "aliases of aliases", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n" + bomb("data: ", "{a: b}"), "excessive aliasing"},
	{"explain", "deep nesting", "a: " + strings.Repeat("[", 50_000), "exceeded max depth"},
	{"explain", "a key twice", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nmetadata: {name: b}\n", "already"},
	{"recording", "no line break", strings.Repeat("x", 1<<20), "line 1: "},
	{"recording", "deep nesting", strings.Repeat("[", 1<<20), "line 1: "},
	{"events", "no line break", strings.Repeat("x", 17<<20), "line 1: "},
	{"events", "deep nesting", strings.Repeat(`{"run":`, 1<<20), "line 1: "},
	{"events", "a bad line in the middle", `{"at":0}` + "\n{\n{}\n", "line 2: "},
	{"events", "before the start", `{"at":-1}` + "\n", "before the start of the run"},
}

// bomb returns a YAML text of a kilobyte whose aliases expand to a billion copies of a value.
func bomb(key, value string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.TrimRight(key, " "))
	indent := key[:len(key)-len(strings.TrimLeft(key, " "))] + "  "
	fmt.Fprintf(&b, "%sa0: &a0 %s\n", indent, value)
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&b, "%sa%d: &a%d [%s]\n", indent, i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return b.String()
}

var errPanic = errors.New("panic")

// guarded reads a file. It returns the error, and a description if the reader panicked or exceeded
// a limit.
func guarded(read func(string) error, path string) (error, string) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan error, 1)
	go func() {
		defer func() {
			if what := recover(); what != nil {
				done <- fmt.Errorf("%w: %v", errPanic, what)
			}
		}()
		done <- read(path)
	}()
	select {
	case err := <-done:
		runtime.ReadMemStats(&after)
		switch took := after.TotalAlloc - before.TotalAlloc; {
		case errors.Is(err, errPanic):
			return err, err.Error()
		case took > fileMemory:
			return err, fmt.Sprintf("it allocated %d MiB", took>>20)
		}
		return err, ""
	case <-time.After(fileTime):
		return nil, fmt.Sprintf("it did not return within %v", fileTime)
	}
}

// TestHostileFiles checks the errors for invalid files.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	tried, landed := 0, 0
	for _, h := range hostileFiles {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte(h.text), 0o600); err != nil {
			t.Fatal(err)
		}
		tried++
		err, bad := guarded(readers[h.kind], path)
		if bad == "" && (err == nil || !strings.Contains(err.Error(), h.want)) {
			bad = fmt.Sprintf("its error is %.200q, want %q", fmt.Sprint(err), h.want)
		}
		if bad != "" {
			landed++
			t.Errorf("%s, %s: %s", h.kind, h.what, bad)
		}
	}
	attack.Report(t, attack.Row{Target: "input files", Attack: "bombs, depth, numbers, encodings", Tried: tried, Landed: landed,
		Success: fmt.Sprintf("it is accepted, its error names no line, or it takes more than %v or %d MiB", fileTime, fileMemory>>20)})
}

// TestFilesThatAreNotRegular tries paths of pipes, folders, devices and a huge file.
func TestFilesThatAreNotRegular(t *testing.T) {
	dir := t.TempDir()
	pipe, large, folder := filepath.Join(dir, "pipe"), filepath.Join(dir, "large"), filepath.Join(dir, "folder")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(large, nil, 0o600), os.Truncate(large, 1<<40), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	tried, landed := 0, 0
	for kind, read := range readers {
		for _, path := range []string{pipe, large, folder, "/dev/zero", "/dev/full"} {
			tried++
			if err, bad := guarded(read, path); bad != "" || err == nil {
				landed++
				t.Errorf("%s from %s: %s %v", kind, path, bad, err)
			}
		}
	}
	attack.Report(t, attack.Row{Target: "input files", Attack: "pipes, devices, folders, a file of a terabyte", Tried: tried, Landed: landed,
		Success: "the reader waits for it, or reads it into memory"})
}

// TestMutatedFiles changes valid files at random places.
func TestMutatedFiles(t *testing.T) {
	good := map[string][]byte{
		"scenario":  []byte(head + "  population: {services: 2, pods: 2}\n  rounds: 2\n  traffic:\n  - {lane: http, rate: 5/s}\n  timeline:\n  - {at: 1s, churn: rolling-update, rate: 5/s, for: 2s}\n  expect: [reloads == 0]\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: a}}\n"),
		"manifest":  []byte("apiVersion: v1\nkind: List\nitems:\n- &a {apiVersion: v1, kind: Secret, metadata: {name: a}}\n- *a\n---\n{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"b\"}}\n"),
		"events":    []byte(`{"at":0,"run":{"schema":"windtunnel.dev/events/v1","scenario":"x","seed":1,"driver":"local","start":"2024-01-01T00:00:00Z","subjects":["a"]}}` + "\n" + `{"at":1,"subject":"a","phase":{"name":"round-begin","round":1}}` + "\n" + `{"at":2,"subject":"a","change":{"id":1,"step":"apply","object":"x"}}` + "\n" + `{"at":3,"subject":"a","request":{"lane":"http","took":5,"status":200}}` + "\n" + `{"at":9,"subject":"a","phase":{"name":"round-end","round":1}}` + "\n"),
		"recording": []byte(`{"schema":"windtunnel.dev/recording/v1","length":1000,"changes":1,"population":{"namespace":"recorded","services":[{"namespace":"recorded","name":"a","port":80,"pods":["p"]}]}}` + "\n" + `{"id":1,"at":5,"service":"recorded/a","add":["q"],"remove":["p"]}` + "\n"),
	}
	good["explain"] = good["manifest"]
	chance := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "file")
	tried, landed := 0, 0
	for range attack.Times(80, 20_000) {
		for kind, text := range good {
			if err := os.WriteFile(path, mutated(text, chance), 0o600); err != nil {
				t.Fatal(err)
			}
			tried++
			if _, bad := guarded(readers[kind], path); bad != "" {
				landed++
				kept, _ := os.ReadFile(path)
				t.Errorf("%s: %s: %q", kind, bad, kept)
			}
		}
	}
	attack.Report(t, attack.Row{Target: "input files", Attack: "valid files, changed at random", Tried: tried, Landed: landed, Success: "a panic, or a limit exceeded"})
}

// mutated returns a text with one to four changes: bytes are removed, doubled or replaced by tokens
// of YAML and JSON or large numbers, or the rest is cut off.
func mutated(text []byte, chance *rand.Rand) []byte {
	words := []string{"{", "}", "[", "]", "&a ", "*a", "---\n", ": ", "\n", "\t", "\x00", "\xff", "\xef\xbb\xbf", "\r\n", "!!binary ", "!!float ", "<<: ", "9999999999999999999", "-1", "1e308", "null", "~", "'", "\"", "\\", "|", ">"}
	text = bytes.Clone(text)
	for range 1 + chance.IntN(4) {
		at := chance.IntN(len(text))
		end := min(len(text), at+chance.IntN(12))
		switch chance.IntN(4) {
		case 0:
			text = append(text[:at:at], text[end:]...)
		case 1:
			text = append(text[:end:end], text[at:]...)
		case 2:
			text = append(append(text[:at:at], words[chance.IntN(len(words))]...), text[end:]...)
		default:
			text = text[:max(1, at)]
		}
		if len(text) == 0 {
			return text
		}
	}
	return text
}
