// Package windtunnel_test checks the architecture of the project: which packages may import which,
// and why. Its one rule: if a rule turns out to be wrong, change the rule and its reason here.
package windtunnel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "windtunnel.dev"

// rules defines what a layer may not import. The layer and the forbidden paths are patterns of
// path.Match for package paths below the module. A pattern also covers the packages below a match.
// Forbidden paths with a dot in the first element, and those of the standard library, are compared
// literally. Our own packages are forbidden as direct and as indirect imports, others only as
// direct imports.
var rules = []struct {
	layer     string
	forbidden []string
	why       string
}{
	{"controller", []string{"sim"}, "the controller does not know that it is being tested"},
	{"lua", []string{"sim", "controller"}, "the Lua code does not depend on the controller or the harness"},
	{"controller/annotations", []string{"os", "net", "net/http", "controller/snapshot", "controller/model"}, "an annotation is parsed from its text alone"},
	{"controller/options", []string{"os", "net", "net/http", "controller/snapshot", "controller/model"}, "options are parsed from their text alone"},
	{"controller/snapshot", []string{"k8s.io/client-go/kubernetes", "k8s.io/client-go/rest", "k8s.io/client-go/dynamic", "controller/watch"}, "a snapshot is values; only watch, status and admission talk to Kubernetes"},
	{"controller/model", []string{"os", "os/exec", "net/http", "controller/render", "controller/wire", "controller/plan", "controller/apply", "controller/nginx", "controller/watch", "k8s.io/client-go/kubernetes"}, "the model is a pure function of the snapshot and the options"},
	{"controller/render", []string{"os/exec", "net/http", "controller/snapshot/", "controller/apply", "controller/nginx", "controller/watch", "k8s.io/client-go/kubernetes"}, "rendering is a pure function of the model"},
	{"controller/wire", []string{"os", "os/exec", "net/http", "controller/apply", "controller/nginx", "controller/watch", "k8s.io/client-go/kubernetes"}, "encoding is a pure function of the model"},
	{"controller/plan", []string{"os", "os/exec", "net/http", "controller/apply", "controller/nginx", "controller/watch", "k8s.io/client-go/kubernetes"}, "a plan is a pure function of two states"},
	{"controller/apply", []string{"controller/watch", "controller/snapshot/", "k8s.io/client-go/kubernetes", "k8s.io/client-go/tools/cache"}, "apply performs a plan; it does not look at the cluster"},
	{"controller/nginx", []string{"controller/model", "controller/plan", "controller/watch", "k8s.io/client-go/kubernetes"}, "the nginx process does not depend on what it serves"},
	{"controller/compile", []string{"os", "os/exec", "net/http", "controller/apply", "controller/nginx", "controller/watch", "k8s.io/client-go/kubernetes"}, "a compilation is a pure function of the cluster and the input"},
	{"controller/observe", []string{"controller/watch", "controller/nginx/", "controller/compile", "k8s.io/client-go/kubernetes"}, "it reports results and changes nothing"},
	{"controller/machine", []string{"controller/", "net/http", "k8s.io/client-go/kubernetes"}, "the properties of a machine do not depend on the controller"},
	{"controller/watch", []string{"controller/nginx", "controller/apply"}, "only apply talks to nginx"},
	{"controller/tracing", []string{"os", "net/http", "controller/model", "controller/snapshot", "controller/apply", "k8s.io/client-go/kubernetes"}, "a tracer's file is a pure function of the options"},
	{"controller/quarantine", []string{"os", "os/exec", "net", "net/http", "controller/nginx", "controller/apply", "controller/plan", "controller/watch", "k8s.io/client-go/kubernetes"}, "it decides what is served; its caller runs nginx -t"},
	{"controller/chain", []string{"controller/render", "controller/plan", "controller/apply", "controller/watch", "k8s.io/client-go/kubernetes"}, "it completes Secrets, and does not serve them"},
	{"controller/status", []string{"controller/nginx", "controller/apply", "controller/model"}, "it publishes addresses, which do not depend on what nginx serves"},
	{"controller/admission", []string{"controller/nginx", "controller/apply", "controller/watch", "os/exec", "k8s.io/client-go/kubernetes"}, "a review changes nothing"},
	{"controller/explain", []string{"os", "os/exec", "net/http", "controller/nginx", "controller/apply", "k8s.io/client-go/kubernetes"}, "an explanation needs no cluster and no nginx"},
	{"controller/metrics", []string{"controller/nginx", "controller/apply", "controller/model", "controller/watch", "k8s.io/client-go/kubernetes"}, "it counts what other packages report"},
	{"internal/sharedlistener", []string{"controller", "sim"}, "addresses share sockets, whoever answers at them"},
	{"internal/accept", []string{"controller", "sim"}, "connections are accepted, whoever serves them"},
	{"internal/export", []string{"net", "controller", "sim", "lua"}, "files are written, whatever they contain"},
	{"internal/openfiles", []string{"controller", "sim"}, "files are counted, whoever opens them"},
	{"internal/changepoint", []string{"os", "net", "controller", "sim"}, "it knows values in their order, whatever they measure"},
	{"internal/fractional", []string{"os", "net", "controller", "sim"}, "it knows factors by their numbers, whatever they are"},
	{"internal/gitrepo", []string{"net", "controller", "sim"}, "a repository has commits, whatever they change"},
	{"internal/nginxtest", []string{"controller/render", "controller/apply", "sim", "lua"}, "a test's nginx runs the test's configuration, whoever made it"},
	{"sim/backend", []string{"github.com/cilium/ebpf", "sim/driver", "sim/scenario", "sim/measure", "sim/corpus"}, "a pod answers, whatever a scenario does with it"},
	{"sim/event", []string{"sim/scenario", "sim/measure", "net/http", "net"}, "the log is below everything that writes or reads it"},
	{"sim/scenario", []string{"net/http", "net", "sim/measure", "sim/driver", "sim/traffic"}, "reading a scenario does not need the code that runs it"},
	{"sim/adapter", []string{"net", "net/http", "os", "os/exec", "sim/driver", "sim/probe", "sim/scenario", "controller", "adapters"}, "an adapter says how a controller is started and observed; drivers do it"},
	{"sim/gateway", []string{"net", "net/http", "os", "os/exec", "sim/cluster", "sim/driver", "sim/scenario", "controller"}, "a route is a pure function of an ingress"},
	{"sim/definitions", []string{"net", "net/http", "sim/cluster", "sim/driver", "sim/kubeapi"}, "it reads definitions; drivers create them"},
	{"sim/webhook", []string{"net/http", "os", "sim/kubeapi", "sim/driver", "sim/cluster"}, "it makes certificates and registrations; drivers and cases use them"},
	{"sim/specfile", []string{"net/http", "net", "os", "sim/scenario", "sim/behave"}, "it knows neither of the formats that it reads"},
	{"sim/behave/report", []string{"net", "net/http", "os/exec", "sim/behave/run", "sim/behave/ask", "sim/driver", "sim/backend", "sim/kubeapi"}, "a report shows results, however they were found"},
	{"sim/behave/derive", []string{"net", "os", "os/exec", "sim/behave/run", "sim/behave/ask", "sim/behave/report", "sim/driver", "sim/backend", "sim/kubeapi", "controller"}, "questions follow from manifests alone, and expectations from answers"},
	{"sim/behave/diff", []string{"net", "net/http", "os", "os/exec", "sim/behave/run", "sim/behave/ask", "sim/behave/derive", "sim/driver", "sim/backend", "sim/kubeapi"}, "a comparison depends on the results alone"},
	{"sim/migrate", []string{"net", "os/exec", "sim/driver/local", "sim/driver/container", "sim/driver/kind"}, "it gets its drivers, and leaves asking and measuring to others"},
	{"sim/migrate/report", []string{"os", "sim/behave/run", "sim/behave/ask", "sim/driver", "sim/trial", "sim/run", "sim/backend", "sim/kubeapi"}, "a report depends on answers and measurements alone"},
	{"sim/behave/ask", []string{"controller", "sim/driver", "sim/backend", "sim/kubeapi"}, "a client knows nothing but addresses"},
	{"sim/behave/run", []string{"controller", "sim/measure", "sim/behave/report", "sim/driver/local", "sim/driver/installed"}, "a run gets its driver, and records what it sees"},
	{"sim/behave/mutate/hunt", []string{"controller", "sim/measure", "sim/behave/report", "sim/driver/local", "sim/driver/installed"}, "it changes texts, whoever reads them"},
	{"sim/corpus", []string{"net/http", "os", "sim/driver", "sim/measure"}, "a population is a pure function of its shape and seed"},
	{"sim/corpus/certificates", []string{"net", "crypto/rand", "controller", "sim"}, "a certificate follows from its template and its seed"},
	{"sim/corpus/clusters", []string{"net", "crypto/rand", "controller", "sim/corpus/dump", "sim/corpus/fetch", "sim/scenario"}, "a cluster follows from its size and its seed, whoever reads it"},
	{"sim/corpus/dump", []string{"net", "crypto/rand", "k8s.io/client-go/kubernetes", "k8s.io/client-go/dynamic", "controller", "sim/corpus/clusters", "sim/corpus/fetch", "sim/scenario"}, "an import depends on the dump and the key alone"},
	{"sim/corpus/imported", []string{"net", "crypto/rand", "k8s.io/client-go/kubernetes", "controller", "sim/corpus/clusters", "sim/corpus/fetch", "sim/scenario"}, "targets follow from the manifests alone"},
	{"sim/corpus/fetch", []string{"controller", "sim/corpus/dump", "sim/kubeapi"}, "it lists objects, whatever they are for"},
	{"sim/churn", []string{"net/http", "net", "os", "sim/driver", "sim/measure"}, "a change stream is a pure function of its population and seed"},
	{"sim/kubeapi/controllers", []string{"sim/kubeapi"}, "controllers know the API server as any client does"},
	{"sim/kubeapi/fault", []string{"sim/kubeapi/internal"}, "a fault is described by what a client meets; the server carries it out"},
	{"sim/kubeapi/internal/object", []string{"net/http", "os", "sim/kubeapi"}, "an object is values and bytes, whatever resource it is of"},
	{"sim/kubeapi/internal/rescue", []string{"net/http", "os", "sim/kubeapi"}, "it does not depend on the functions that it calls"},
	{"sim/kubeapi/internal/certs", []string{"net/http", "sim/kubeapi"}, "certificates do not depend on what is served with them"},
	{"sim/kubeapi/internal/accounts", []string{"net/http", "os", "sim/kubeapi/internal/cluster", "sim/kubeapi/internal/store"}, "a token depends on objects, not on where they are stored"},
	{"sim/kubeapi/internal/resource", []string{"net/http", "os", "sim/kubeapi/internal/store", "sim/kubeapi/internal/kinds"}, "a row says what a kind is; it neither stores objects nor sees requests"},
	{"sim/kubeapi/internal/store", []string{"net/http", "os", "sim/kubeapi/internal/kinds", "sim/kubeapi/internal/codec", "sim/kubeapi/internal/cluster"}, "objects and their history are the same however they are written and read"},
	{"sim/kubeapi/internal/custom", []string{"net/http", "os", "sim/kubeapi/internal/store", "sim/kubeapi/internal/kinds"}, "a custom kind follows from its definition alone"},
	{"sim/kubeapi/internal/kinds", []string{"net/http", "os", "sim/kubeapi/internal/store", "sim/kubeapi/internal/codec", "sim/kubeapi/internal/cluster"}, "the rules of a kind look at objects, not at storage or requests"},
	{"sim/kubeapi/internal/discovery", []string{"net/http", "os", "sim/kubeapi/internal/store", "sim/kubeapi/internal/kinds"}, "discovery is a pure function of the table that it is given"},
	{"sim/kubeapi/internal/openapi", []string{"net/http", "os", "sim/kubeapi/internal/store", "sim/kubeapi/internal/kinds"}, "the documents are a pure function of the table that they are given"},
	{"sim/kubeapi/internal/codec", []string{"os", "sim/kubeapi/internal/kinds", "sim/kubeapi/internal/cluster", "sim/kubeapi/internal/patch", "sim/kubeapi/internal/ownership"}, "encoding an object changes nothing and knows no single kind"},
	{"sim/kubeapi/internal/patch", []string{"os", "sim/kubeapi/internal/kinds", "sim/kubeapi/internal/cluster", "sim/kubeapi/internal/ownership"}, "a patch is a function from one state of an object to the next"},
	{"sim/kubeapi/internal/ownership", []string{"net/http", "os", "sim/kubeapi/internal/cluster", "sim/kubeapi/internal/admission"}, "the owners of fields depend on the old and the new state alone"},
	{"sim/kubeapi/internal/admission", []string{"os", "sim/kubeapi/internal/cluster", "sim/kubeapi/internal/ownership"}, "webhooks are asked about a write; who writes is its caller's business"},
	{"sim/kubeapi/internal/cluster", []string{"os", "net/http", "sim/kubeapi/fault"}, "a write obeys the same rules over HTTP and from within the process"},
	{"sim/regress", []string{"os", "os/exec", "net", "net/http", "controller/compile", "controller/render", "controller/nginx", "sim/driver", "sim/behave"}, "a side of a comparison is an interface, whoever renders"},
	{"sim/regress/behaviour", []string{"os", "os/exec", "net", "net/http", "sim/driver", "sim/behave/run", "sim/regress/side"}, "who asks the cases is its caller's business"},
	{"sim/regress/side", []string{"net", "net/http", "sim/behave", "sim/driver", "sim/corpus"}, "a side renders and tests, whatever clusters it gets"},
	{"sim/regress/clusterfiles", []string{"net", "net/http", "controller/compile", "controller/render", "controller/nginx", "sim/driver", "sim/regress/side"}, "a cluster is what its file says, whoever renders it"},
	{"sim/regress/revision", []string{"net", "net/http", "controller", "sim/scenario"}, "a repository has files, whatever they are for"},
	{"sim/regress/speed", []string{"sim/regress/side", "sim/regress/report", "controller"}, "costs are compared, whoever measures them"},
	{"sim/regress/speed/rig", []string{"controller", "sim/regress/side", "sim/driver"}, "it measures a running nginx, whoever renders for it"},
	{"sim/regress/conf", []string{"sim/regress", "controller", "k8s.io/apimachinery/pkg/types"}, "a configuration is a text of nginx, whatever it was rendered from"},
	{"sim/regress/report", []string{"os", "os/exec", "net", "net/http", "controller/compile", "controller/render", "controller/snapshot/", "sim/manifest/"}, "a report shows what was found"},
	{"sim/clock", []string{"os", "net", "controller", "sim"}, "an offset follows from the times of exchanges, whatever the clocks are for"},
	{"sim/agent", []string{"k8s.io/client-go", "sim/driver", "sim/scenario", "sim/measure", "sim/step", "controller"}, "an agent is reached by HTTP, wherever it runs"},
	{"sim/driver/incluster", []string{"net/http", "k8s.io/client-go/kubernetes", "sim/driver/kind", "sim/driver/cluster"}, "objects are made without a cluster"},
	{"sim/manifest", []string{"net", "net/http", "sim/kubeapi", "sim/cluster"}, "manifests are read without a server"},
	{"sim/measure", []string{"os", "net", "net/http", "sim/run", "sim/step", "sim/driver", "sim/probe", "sim/traffic", "sim/backend", "sim/kubeapi", "sim/report"}, "measurements do not know how the log was made"},
	{"sim/expect", []string{"os", "net", "net/http", "sim/run", "sim/driver", "sim/report"}, "an evaluation depends on the measurements alone"},
	{"sim/judge", []string{"os", "net", "net/http", "sim/run", "sim/driver", "sim/report"}, "an outcome depends on the measurements and the expectations alone"},
	{"sim/report", []string{"net", "net/http", "sim/run", "sim/driver", "sim/probe", "sim/traffic", "sim/kubeapi"}, "a report can be recomputed from an old log"},
	{"sim/compare", []string{"net", "net/http", "sim/run", "sim/driver", "sim/probe", "sim/traffic", "sim/kubeapi"}, "a comparison depends on the results alone"},
	{"sim/history", []string{"net", "net/http", "os/exec", "sim/run", "sim/driver", "sim/probe", "sim/traffic", "sim/kubeapi", "sim/trial"}, "runs are kept without anything that runs them"},
	{"sim/history/trend", []string{"os", "sim/history/report"}, "steps follow from the kept runs alone"},
	{"sim/rundir", []string{"net", "net/http", "sim/run", "sim/driver", "sim/probe", "sim/traffic", "sim/kubeapi", "sim/trial"}, "the folder of an old run is read without anything that runs it"},
	{"sim/watch", []string{"os/exec", "sim/run", "sim/driver", "sim/probe", "sim/traffic", "sim/backend", "sim/kubeapi", "sim/trial"}, "those who watch a run get its events, and act on nothing"},
	{"sim/trial", []string{"net", "net/http", "sim/driver/local", "sim/driver/container", "sim/driver/kind", "sim/compare", "sim/measure/"}, "a trial gets its driver, measures by the run's folder, and compares nothing"},
	{"sim/sweep", []string{"net", "net/http", "controller/", "sim/driver/local", "sim/driver/container", "sim/driver/kind"}, "a sweep gets its driver, and its runs are trials"},
	{"sim/sweep/report", []string{"os", "sim/sweep/run", "sim/run", "sim/driver", "sim/trial", "sim/kubeapi"}, "a report shows what the document has"},
	{"sim/driver", []string{"controller"}, "a driver sees a subject from outside: its processes, ports and log"},
	{"sim/driver/installed", []string{"sim/behave/run", "sim/kubeapi/", "sim/probe/", "os/exec"}, "it starts no processes, and knows cases only to say which cannot run"},
	{"sim/observe", []string{"os/exec", "controller", "sim/run", "sim/trial", "sim/driver", "sim/backend/pool", "sim/kubeapi", "sim/cluster", "sim/live"}, "an observation reads a cluster of others, and starts and changes nothing in it"},
	{"sim/observe/notice", []string{"os", "net", "net/http", "k8s.io/client-go/kubernetes", "sim/probe", "sim/traffic", "sim/rundir"}, "what an object or a metric means does not depend on how it was read"},
	{"sim/predict", []string{"net", "net/http", "os/exec", "controller", "sim/run", "sim/trial", "sim/driver", "sim/probe", "sim/traffic", "sim/backend", "sim/kubeapi"}, "a prediction depends on the question and the parameters alone, and these on logs of runs"},
	{"sim/predict/simulate", []string{"os", "net", "net/http", "sim/scenario", "sim/event", "sim/measure", "sim/driver"}, "a simulation depends on its input, costs and seed alone"},
	{"sim/run", []string{"controller", "sim/measure", "sim/report"}, "a run writes the log; other packages evaluate it"},
	{"sim", []string{"cmd", "controller/watch", "controller/apply", "controller/model", "controller/plan"}, "the harness knows the controller only from outside"},
}

// noClock lists the packages that get the time as an argument. They must not read the clock, wait,
// or start a goroutine.
var noClock = []string{
	"controller/annotations",
	"controller/options",
	"controller/snapshot",
	"controller/model",
	"controller/render",
	"controller/wire",
	"controller/plan",
	"controller/compile",
	"controller/tracing",
	"controller/quarantine",
	"sim/adapter",
	"sim/gateway",
	"sim/specfile",
	"sim/scenario",
	"sim/behave",
	"sim/behave/derive",
	"sim/behave/diff",
	"sim/behave/mutate",
	"sim/behave/report",
	"sim/migrate/report",
	"sim/regress/conf",
	"sim/regress/report",
	"sim/corpus",
	"sim/corpus/certificates",
	"sim/corpus/clusters",
	"sim/corpus/dump",
	"sim/corpus/imported",
	"sim/churn",
	"sim/clock",
	"sim/measure",
	"sim/observe/notice",
	"sim/predict",
	"sim/predict/calibrate",
	"sim/predict/costs",
	"sim/predict/figure",
	"sim/predict/question",
	"sim/predict/report",
	"sim/predict/simulate",
	"sim/expect",
	"sim/judge",
	"sim/compare",
	"sim/history/report",
	"sim/history/trend",
	"internal/changepoint",
	"internal/fractional",
	"sim/sweep",
	"sim/sweep/report",
}

// exceptions are packages below a layer to which its rules do not apply.
var exceptions = map[string][]string{
	"sim/regress/behaviour":    {"sim/regress"},        // it knows cases
	"sim/regress/side":         {"sim", "sim/regress"}, // it is the bundled controller, without a cluster
	"sim/regress/clusterfiles": {"sim/regress"},        // it reads files, so that sim/regress need not
	"sim/regress/revision":     {"sim/regress"},        // likewise repositories
	"sim/regress/speed/rig":    {"sim/regress"},        // it sends requests
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
	GoFiles    []string
	Doc        string
	Dir        string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	all, err := listPackages()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// listPackages asks the Go tool once, because it takes a second.
var listPackages = sync.OnceValues(func() (all []goPackage, err error) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps,GoFiles,Doc,Dir", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
})

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		for _, rule := range rules {
			if name := below(p.ImportPath); !covers(rule.layer, name) || slices.Contains(exceptions[name], rule.layer) {
				continue
			}
			for _, forbidden := range rule.forbidden {
				if got := offence(p, forbidden); got != "" {
					t.Errorf("%s imports %s: %s", below(p.ImportPath), got, rule.why)
				}
			}
		}
	}
}

// offence returns the import of p that forbidden covers; empty if there is none.
func offence(p goPackage, forbidden string) string {
	for _, dep := range p.Deps {
		// A trailing slash forbids only direct imports of our packages.
		if direct := strings.TrimSuffix(forbidden, "/"); direct != forbidden {
			if below(dep) == direct && slices.Contains(p.Imports, dep) {
				return dep
			}
			continue
		}
		if strings.HasPrefix(dep, module+"/") && covers(forbidden, below(dep)) {
			return dep
		}
	}
	if slices.Contains(p.Imports, forbidden) {
		return forbidden
	}
	return ""
}

// products matches the names of controllers and proxies that have adapters, except ingress-nginx, whose
// behaviour the cases describe.
var products = regexp.MustCompile(`(?i)\b(traefik|haproxy|contour|envoy|kong|apisix|istio|cilium|nginx-gateway|kubernetes-ingress)\b`)

// Only adapters and drivers name products, so that a new product needs no change elsewhere.
func TestOnlyAdaptersKnowProducts(t *testing.T) {
	for _, p := range packages(t) {
		name := below(p.ImportPath)
		if !(covers("sim", name) || covers("cmd/windtunnel", name)) || covers("sim/driver", name) {
			continue
		}
		for _, file := range p.GoFiles {
			fset := token.NewFileSet()
			parsed, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && products.MatchString(text.Value) {
					t.Errorf("%s: %s names a product: move what is specific to it into its adapter", fset.Position(n.Pos()), text.Value)
				}
				return true
			})
		}
	}
}

// forTests lists the packages that only tests, and each other, may import.
var forTests = []string{"adapters/adapterstest", "internal/browsertest", "internal/golden", "internal/nginxtest", "internal/parallel", "internal/schematest", "internal/tcptest", "internal/thirdparty"}

func TestOnlyTestsImportTestPackages(t *testing.T) {
	for _, p := range packages(t) {
		if slices.Contains(forTests, below(p.ImportPath)) {
			continue
		}
		for _, dep := range p.Imports { // only imports of non-test files
			if slices.Contains(forTests, below(dep)) {
				t.Errorf("%s imports %s, which is for tests", below(p.ImportPath), below(dep))
			}
		}
	}
}

func covers(pattern, name string) bool {
	if strings.HasPrefix(name, pattern+"/") {
		return true
	}
	ok, _ := path.Match(pattern, name)
	return ok
}

func below(importPath string) string { return strings.TrimPrefix(importPath, module+"/") }

func TestPurePackagesDoNotReadTheClock(t *testing.T) {
	for _, p := range packages(t) {
		if !slices.Contains(noClock, below(p.ImportPath)) {
			continue
		}
		for _, name := range p.GoFiles {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s: starts a goroutine in a pure package", fset.Position(n.Pos()))
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc"}, n.Sel.Name) {
						t.Errorf("%s: time.%s in a pure package; take the time as an argument", fset.Position(n.Pos()), n.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

// startsProcesses lists the files that may start programs with os/exec themselves: each of them
// limits how long it waits for a program. All other files use internal/command.
var startsProcesses = []string{
	"internal/command/command.go", "internal/guard/guard.go", "controller/nginx/process.go",
	"internal/isolated/isolated.go",
	"sim/driver/local/runtime.go", // the guard starts the commands that it creates
	"internal/nginxtest/start.go", // package nginx starts the command that it changes
}

// If a program leaves behind a process that holds its output open, exec.Cmd's Wait never returns
// unless WaitDelay limits it.
func TestProcessesHaveWaitLimits(t *testing.T) {
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			if slices.Contains(startsProcesses, path.Join(below(p.ImportPath), name)) {
				continue
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "Command" || s.Sel.Name == "CommandContext" || s.Sel.Name == "Cmd") {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "exec" {
						t.Errorf("%s: exec.%s: use internal/command, or bound Wait and list the file here", fset.Position(n.Pos()), s.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

func TestEveryPackageHasAComment(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s has no package comment: say what it does and what its one rule is", below(p.ImportPath))
		}
	}
}
