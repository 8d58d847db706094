// Package doctor checks whether the machine has what Windtunnel needs. Its one rule: it changes
// nothing, and every result names the features that do not work without the item.
package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/internal/command"
	"windtunnel.dev/internal/openfiles"
	"windtunnel.dev/internal/sharedlistener"
)

// Result is the result of one check.
type Result struct {
	What    string `json:"what"`
	OK      bool   `json:"ok"`
	Needed  bool   `json:"needed"`  // a local run cannot start without it
	Found   string `json:"found"`   // the item, or the reason why it is missing or unusable
	Without string `json:"without"` // the features that do not work without it
}

// Examine runs all checks. It takes at most one or two seconds.
func Examine(ctx context.Context) []Result {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	results := append(examineNginx(), examineEngine(ctx)...)
	results = append(append(results, examineProc()), examineFiles()...)
	return append(results,
		examineLoopback(),
		examineTracking(ctx),
		examineProcessors(),
		examineTool(ctx, "kubectl", "inspecting the simulated cluster by hand, and the tests that use kubectl", "kubectl", "version", "--client"),
	)
}

// modules are the nginx modules to check, with the features that need them.
var modules = []struct {
	name    string
	needed  bool
	without string
}{
	{"http_lua", true, "every run: endpoints are balanced in Lua"},
	{"stream", false, "TCP and UDP services"},
	{"stream_lua", false, "TCP and UDP endpoints without reloads"},
	{"http_set_misc", false, "a third-party template that uses set_escape_uri"},
	{"http_headers_more_filter", false, "a third-party template that uses more_set_headers"},
}

func examineNginx() []Result {
	found, err := nginx.Find("")
	if err != nil {
		return []Result{{What: "nginx", Needed: true, Found: err.Error(), Without: "every local run"}}
	}
	results := []Result{{What: "nginx", OK: true, Found: found.Version + " at " + found.Binary, Without: "every local run"}}
	for _, module := range modules {
		results = append(results, examineModule(found, module.name, module.needed, module.without))
	}
	return append(results, examineTypes(found), examineCJSON())
}

// examineModule runs `nginx -t` on a configuration that needs the module.
func examineModule(program *nginx.Nginx, name string, needed bool, without string) Result {
	result := Result{What: "nginx module " + name, Needed: needed, Found: "linked in", Without: without}
	files, err := program.Load(name)
	switch result.OK = err == nil; {
	case err != nil:
		result.Found = err.Error()
	case len(files) > 0:
		result.Found = files[len(files)-1]
	}
	return result
}

func examineTypes(program *nginx.Nginx) Result {
	result := Result{What: "nginx's mime.types", Without: "a third-party template that includes it"}
	file, err := program.File("mime.types")
	result.OK, result.Found = err == nil, file
	if err != nil {
		result.Found = err.Error()
	}
	return result
}

func examineCJSON() Result {
	result := Result{What: "Lua module cjson", Needed: true, Found: "not found: apt-get install lua-cjson", Without: "every run: Lua reads the backends as JSON"}
	for _, pattern := range []string{"/usr/lib/*/lua/5.1/cjson.so", "/usr/local/lib/lua/5.1/cjson.so", "/usr/local/openresty/lualib/cjson.so"} {
		if paths, _ := filepath.Glob(pattern); len(paths) > 0 {
			result.OK, result.Found = true, paths[0]
		}
	}
	return result
}

// examineProc checks whether the probes can read /proc of processes of another user: nginx's
// workers, when the master runs as root.
func examineProc() Result {
	result := Result{What: "/proc of other processes", Without: "memory of nginx; which worker owns a connection"}
	switch _, err := os.ReadDir("/proc/1/fd"); {
	case err == nil:
		result.OK, result.Found = true, "readable"
	case os.Geteuid() != 0:
		// nginx then runs as the same user, so its processes are readable.
		result.OK, result.Found = true, "readable for this user's processes; this is enough, because nginx runs as this user"
	default:
		result.Found = err.Error()
	}
	return result
}

// wantPods is a population that every machine should have room for.
const wantPods = 10_000

// examineFiles counts the files that remain for the sockets of simulated pods, and says whether they
// need any.
func examineFiles() []Result {
	files := Result{What: "open files", Without: fmt.Sprintf("populations of %d pods, if each has a socket", wantPods)}
	limit, err := openfiles.Limit()
	if err != nil {
		files.Found = err.Error()
		limit = 0
	} else {
		files.OK = openfiles.Room(limit) >= wantPods
		files.Found = fmt.Sprintf("limit %d: less %d for the rest of a run, room for %d sockets of pods", limit, openfiles.Others, openfiles.Room(limit))
	}
	shared := Result{
		What: "sockets that pods share", OK: true, Found: "the kernel lets all pods of a subject share one for each port",
		Without: fmt.Sprintf("runs with more than %d sockets of pods: each pod needs one for each port", openfiles.Room(limit)),
	}
	if err := sharedlistener.Supported(); err != nil {
		shared.OK, shared.Found = false, err.Error()
	}
	return []Result{files, shared}
}

func examineLoopback() Result {
	result := Result{What: "ephemeral ports", Without: "high rates of new connections"}
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		result.Found = err.Error()
		return result
	}
	result.OK, result.Found = true, strings.Join(strings.Fields(string(text)), " to ")
	return result
}

func examineProcessors() Result {
	n := runtime.NumCPU()
	return Result{What: "processors", OK: n >= 2, Found: strconv.Itoa(n), Without: "valid timings: the load generator and the subject must not share a processor"}
}

func examineTool(ctx context.Context, what, without string, line ...string) Result {
	result := Result{What: what, Without: without}
	out, err := command.New(ctx, line[0], line[1:]...).CombinedOutput()
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	switch {
	case err == nil:
		result.OK, result.Found = true, first
	case first != "":
		result.Found = first
	default:
		result.Found = "not found"
	}
	return result
}

// Fit returns nil if a local run can start on this machine. Otherwise the error names what is
// missing and how to install it.
func Fit() error {
	for _, result := range examineNginx() {
		if result.Needed && !result.OK {
			return fmt.Errorf("%s: %s", result.What, result.Found)
		}
	}
	return nil
}

// Environment returns what a report states about the machine: versions of Go, nginx and the kernel,
// the model of the processors and their number. What cannot be read is left out.
func Environment() map[string]string {
	environment := map[string]string{
		"go":         runtime.Version(),
		"processors": strconv.Itoa(runtime.NumCPU()),
	}
	if found, err := nginx.Find(""); err == nil {
		environment["nginx"] = found.Version
	}
	var name unix.Utsname
	if err := unix.Uname(&name); err == nil {
		environment["kernel"] = unix.ByteSliceToString(name.Release[:])
	}
	if model := processorModel(); model != "" {
		environment["cpu"] = model
	}
	return environment
}

// processorModel returns the model of the first processor, such as "AMD EPYC 7763 64-Core Processor".
// It is empty if the kernel does not say, as on most machines with ARM processors.
func processorModel() string {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return ""
	}
	processors, err := proc.CPUInfo()
	if err != nil || len(processors) == 0 {
		return ""
	}
	return processors[0].ModelName
}
