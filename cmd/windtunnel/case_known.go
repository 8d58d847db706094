package main

import (
	"flag"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/klog/v2"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/docs"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/driver/local"
)

// modulePrefix is the start of needs that name a module of nginx.
const modulePrefix = "module/"

// needs maps each need of cases, except modules of nginx, to a check whether this machine has it.
var needs = map[string]func() bool{
	"ipv6":        hasIPv6,
	"owasp-rules": local.HasFirewallRules,
}

var (
	// flagRow matches a row of docs/flags.md.
	flagRow = regexp.MustCompile("(?m)^\\| `--([a-z0-9-]+)`")
	// anchoredRow matches a row of docs/compat.md that cases can name.
	anchoredRow = regexp.MustCompile(`(?m)^\| <a id="([a-z0-9-]+)"></a>`)
)

// knownCaseNames returns the names that cases are validated against.
func knownCaseNames() behave.Known {
	known := behave.Known{
		Annotations: knownAnnotations(),
		Config:      options.Names(),
		Flags:       firstGroups(flagRow, docs.Flags),
		Differences: firstGroups(anchoredRow, docs.Compat),
		Needs:       slices.Sorted(maps.Keys(needs)),
	}
	for _, name := range nginx.Modules() {
		known.Needs = append(known.Needs, modulePrefix+name)
	}
	return known
}

// controllerFlags returns the flags of the bundled controller: its own, and those of its log.
func controllerFlags() []string {
	all := firstGroups(flagRow, docs.Flags)
	logging := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logging)
	logging.VisitAll(func(f *flag.Flag) { all = append(all, f.Name) })
	return all
}

func firstGroups(pattern *regexp.Regexp, text string) []string {
	var all []string
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}

// fulfils returns a function that reports whether nginx and this machine have what a case needs. It
// checks each need once, and reports false for unknown needs.
func fulfils() func(need string) bool {
	program := sync.OnceValues(func() (*nginx.Nginx, error) { return nginx.Find("") })
	answers := map[string]bool{}
	return func(need string) bool {
		answer, asked := answers[need]
		if asked {
			return answer
		}
		if module, ok := strings.CutPrefix(need, modulePrefix); ok {
			found, err := program()
			answer = err == nil && found.Has(module)
		} else if has, ok := needs[need]; ok {
			answer = has()
		}
		answers[need] = answer
		return answer
	}
}

// hasIPv6 reports whether this machine has the loopback address of IPv6.
func hasIPv6() bool {
	listener, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		return false
	}
	listener.Close()
	return true
}
