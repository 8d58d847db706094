package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/internal/suggest"
	"windtunnel.dev/sim/behave"
)

// unseen lists settings that no case covers, with the reason: mostly that clients cannot observe
// them. Names are those of covers, or patterns of path.Match for them.
var unseen = map[string]string{
	"config/disable-ipv6-dns":      "only a DNS server with IPv6 addresses shows it, and cases have none",
	"config/enable-aio-write":      "a file has the same content, whichever thread writes it",
	"config/enable-multi-accept":   "a connection waits for less than a round of nginx's event loop",
	"config/enable-serial-reloads": "it only delays changes while old connections last",
	"config/http2-max-field-size":  "nginx ignores it since 1.19.7",
	"config/http2-max-header-size": "nginx ignores it since 1.19.7",
	"config/http2-max-requests":    "nginx ignores it since 1.19.7",
	"config/map-hash-*":            "the size of a table of nginx: too small a one is an error at its start",
	"config/reuse-port":            "any worker may answer, with it or without",
	"config/server-name-hash-*":    "the size of a table of nginx: too small a one is an error at its start",
	"config/variables-hash-*":      "the size of a table of nginx: too small a one is an error at its start",
	"config/worker-cpu-affinity":   "an answer is the same from any CPU",
	"flag/apiserver-host":          "the run chooses how the controller reaches the API server",
	"flag/backends-*":              "only the bundled controller has it",
	"flag/bucket-factor":           "metrics",
	"flag/certificate-authority":   "the run chooses how the controller reaches the API server",
	"flag/configmap":               "the run names the ConfigMap; each case with config shows that it is read",
	"flag/default-server-port":     "nginx asks itself there, and the adapter chooses the port; Services lead clients elsewhere",
	"flag/disable-leader-election": "the status of ingresses",
	"flag/disable-sync-events":     "Events",
	"flag/dynamic-configuration":   "only the bundled controller has it",
	"flag/dynamic-configuration-*": "it says how often a failed update is repeated",
	"flag/dynamic-sync-*":          "only the bundled controller has it",
	"flag/election-*":              "the status of ingresses",
	"flag/enable-metrics":          "metrics",
	"flag/exclude-socket-metrics":  "metrics",
	"flag/health-check-timeout":    "ingress-nginx has the flag and never reads it",
	"flag/healthz-*":               "where kubelet, not a client, asks; the run chooses the port",
	"flag/http-port":               "the run chooses the port; every case shows that nginx listens there",
	"flag/https-port":              "the run chooses the port; every case with https shows that nginx listens there",
	"flag/internal-logger-address": "a port between the parts of the image with a chroot",
	"flag/kubeconfig":              "the run chooses how the controller reaches the API server",
	"flag/log-format":              "only the bundled controller has it",
	"flag/lua-dir":                 "only the bundled controller has it",
	"flag/max-buckets":             "metrics",
	"flag/maxmind-*":               "the download of databases from the Internet",
	"flag/metrics-per-*":           "metrics",
	"flag/monitor-max-batch-size":  "metrics",
	"flag/nginx-*":                 "only the bundled controller has it",
	"flag/post-shutdown-grace-*":   "nginx has ended by then",
	"flag/profil*":                 "profiles of the controller",
	"flag/publish-*":               "the status of ingresses",
	"flag/report-node-*":           "the status of ingresses",
	"flag/report-status-classes":   "metrics",
	"flag/report-workers":          "only the bundled controller has it",
	"flag/shutdown-grace-period":   "only clients of a controller that ends feel it, and no step of a case ends the controller",
	"flag/ssl-passthrough-proxy-*": "a port inside the pod, which the run chooses",
	"flag/status-port":             "nginx listens there on 127.0.0.1 only, and the adapter chooses the port",
	"flag/status-update-interval":  "the status of ingresses",
	"flag/stream-port":             "a port inside the pod, which the run chooses",
	"flag/sync-*":                  "it says when changes take effect, and cases wait until they do",
	"flag/update-status*":          "the status of ingresses",
	"flag/disable-full-test":       "the webhook renders less and decides the same",
	"flag/validating-webhook-*":    "the run makes the webhook's certificate",
	"flag/version":                 "with it, the controller does not serve",
	"flag/*-buckets":               "metrics",
}

// missing lists settings that clients can observe and that no case covers yet. It may only shrink.
var missing []string

// neverInvalid lists annotations and ConfigMap keys of which no case has an invalid value, with the
// reason. Names are those of covers, or patterns of path.Match for them.
var neverInvalid = map[string]string{
	"annotation/*-snippet":                   "any text is valid; what nginx rejects goes into quarantine (docs/quarantine.md)",
	"config/*-snippet":                       "any text is valid; what nginx rejects goes into quarantine (docs/quarantine.md)",
	"config/annotation-value-word-blocklist": "any word is valid",
	"config/app-root":                        "the controller never reads it",
	"config/datadog-*":                       "ingress-nginx 1.10 removed it: no value has an effect",
	"config/jaeger-*":                        "ingress-nginx 1.10 removed it: no value has an effect",
	"config/no-auth-locations":               "any text is a prefix; one that is not a path is the prefix of no path",
	"config/no-tls-redirect-locations":       "any text is a prefix; one that is not a path is the prefix of no path",
	"config/opentelemetry-operation-name":    "only spans have it, and no client sees them",
	"config/otel-sampler":                    "only the module of OpenTelemetry reads it, from a file of its own",
	"config/otel-service-name":               "only spans have it, and no client sees them",
	"config/otlp-collector-host":             "only the module of OpenTelemetry reads it, from a file of its own",
	"config/syslog-port":                     "the default, 514, is a port that only root may listen on",
	"config/upstream-hash-by*":               "the controller never reads it",
	"config/zipkin-*":                        "ingress-nginx 1.10 removed it: no value has an effect",
}

// edgeless lists annotations and ConfigMap keys whose values have no edge, or none that a client
// can observe, with the reason. Names are those of covers, or patterns of path.Match for them.
var edgeless = map[string]string{
	"annotation/affinity-canary-behavior": "one of two words",
	"annotation/affinity-mode":            "one of two words",
	"annotation/auth-tls-secret":          "the name of a Secret",
	"annotation/auth-tls-verify-client":   "one of four words",
	"annotation/http2-push-preload":       "nginx ignores it since 1.25.1",
	"annotation/proxy-ssl-secret":         "the name of a Secret",
	"config/access-log-path":              "the path of a file",
	"config/app-root":                     "the controller never reads it",
	"config/datadog-*":                    "ingress-nginx 1.10 removed it: no value has an effect",
	"config/error-log-level":              "one of eight words",
	"config/error-log-path":               "the path of a file",
	"config/jaeger-*":                     "ingress-nginx 1.10 removed it: no value has an effect",
	"config/opentelemetry-config":         "the path of a file",
	"config/opentelemetry-operation-name": "only spans have it, and no client sees them",
	"config/otel-max-*":                   "only the module of OpenTelemetry reads it, from a file of its own",
	"config/otel-sampler":                 "one of three words",
	"config/otel-schedule-*":              "only the module of OpenTelemetry reads it, from a file of its own",
	"config/otel-service-name":            "only spans have it, and no client sees them",
	"config/otlp-collector-*":             "only the module of OpenTelemetry reads it, from a file of its own",
	"config/proxy-buffering":              "one of two words",
	"config/proxy-headers-hash-*":         "the size of a table of nginx, which is larger if it must be",
	"config/proxy-http-version":           "one of two words",
	"config/proxy-request-buffering":      "one of two words",
	"config/ssl-dh-param":                 "the name of a Secret",
	"config/syslog-host":                  "the name or the address of a host",
	"config/upstream-hash-by*":            "the controller never reads it",
	"config/zipkin-*":                     "ingress-nginx 1.10 removed it: no value has an effect",
}

// missingEdges lists annotations and ConfigMap keys whose values have edges that no case shows yet. It
// may only shrink.
var missingEdges = []string{
	"config/enable-ocsp",
	"config/forwarded-for-proxy-protocol-header",
	"config/geoip2-autoreload-in-minutes",
	"config/max-worker-open-files",
	"config/opentelemetry-trust-incoming-span",
	"config/otel-sampler-parent-based",
	"config/ssl-buffer-size",
	"config/ssl-early-data",
	"config/syslog-port",
	"config/use-geoip2",
}

// Every annotation, ConfigMap key and flag has a case that sets it, unless unseen says why not. Every
// annotation and ConfigMap key has one with an invalid value, unless neverInvalid says why not, and
// one with a value at an edge, unless edgeless says why not.
func TestCasesCoverAllSettings(t *testing.T) {
	cases, err := loadCases([]string{caseFiles})
	if err != nil {
		t.Fatal(err)
	}
	shownBy, badBy, edgeBy := map[string]string{}, map[string]string{}, map[string]string{}
	for _, c := range cases {
		for _, covers := range c.Covers {
			name := behave.Setting(covers)
			switch covers {
			case name, name + behave.EdgeSuffix, name + behave.ScopeSuffix:
				shownBy[name] = c.File
			case name + behave.BadSuffix:
				badBy[name] = c.File
			}
			if covers == name+behave.EdgeSuffix {
				edgeBy[name] = c.File
			}
		}
	}
	all := settings(knownCaseNames())
	for _, problem := range coverageProblems(all, shownBy, unseen, missing) {
		t.Error(problem)
	}
	for _, problem := range invalidProblems(all, badBy, unseen, neverInvalid) {
		t.Error(problem)
	}
	for _, problem := range edgeProblems(all, edgeBy, unseen, edgeless, missingEdges) {
		t.Error(problem)
	}
}

// settings returns the settings that cases can cover, named as in covers.
func settings(known behave.Known) []string {
	var all []string
	for _, name := range known.Annotations {
		_, name, _ = strings.Cut(name, "/")
		all = append(all, "annotation/"+name)
	}
	for _, name := range known.Config {
		all = append(all, "config/"+name)
	}
	for _, name := range known.Flags {
		all = append(all, "flag/"+name)
	}
	return all
}

// coverageProblems returns the problems of the coverage: settings without a case, and stale rows of
// unseen or missing. shownBy has the file of a case for each setting that has one.
func coverageProblems(settings []string, shownBy, unseen map[string]string, missing []string) []string {
	var problems []string
	add := func(format string, a ...any) { problems = append(problems, fmt.Sprintf(format, a...)) }
	excused := map[string]bool{}
	for _, pattern := range slices.Sorted(maps.Keys(unseen)) {
		matches := slices.DeleteFunc(slices.Clone(settings), func(s string) bool { ok, _ := path.Match(pattern, s); return !ok })
		if len(matches) == 0 {
			add("unseen: there is no %s; %s", pattern, suggest.DidYouMean(pattern, settings))
		}
		for _, setting := range matches {
			excused[setting] = true
			if file := shownBy[setting]; file != "" {
				add("unseen: %s shows %s, which matches %s: remove the row", file, setting, pattern)
			}
		}
	}
	for _, setting := range missing {
		switch file := shownBy[setting]; {
		case !slices.Contains(settings, setting):
			add("missing: there is no %s; %s", setting, suggest.DidYouMean(setting, settings))
		case file != "":
			add("missing: %s shows %s: remove the row", file, setting)
		case excused[setting]:
			add("missing: unseen has %s as well: remove one of the rows", setting)
		}
	}
	for _, setting := range settings {
		if shownBy[setting] == "" && !excused[setting] && !slices.Contains(missing, setting) {
			add("no case covers %s: write one (docs/cases.md), or say in unseen why no client can feel it", setting)
		}
	}
	return problems
}

// invalidProblems returns the problems of the cases with invalid values: annotations or ConfigMap
// keys that have none, and stale rows of never. badBy has the file of a case for each setting that
// has one. Settings in unseen need none.
func invalidProblems(settings []string, badBy, unseen, never map[string]string) []string {
	problems := staleRows("neverInvalid", "an invalid value", settings, badBy, never)
	for _, setting := range needed(settings, badBy, unseen, never) {
		problems = append(problems, fmt.Sprintf("no case has an invalid value of %s: write one with %s in covers (docs/cases.md), or say in neverInvalid why there is none", setting, setting+behave.BadSuffix))
	}
	return problems
}

// edgeProblems returns the problems of the cases with values at an edge: annotations or ConfigMap
// keys that have none, and stale rows of edgeless or missing. edgeBy has the file of a case for
// each setting that has one. Settings in unseen need none.
func edgeProblems(settings []string, edgeBy, unseen, edgeless map[string]string, missing []string) []string {
	problems := staleRows("edgeless", "a value at an edge", settings, edgeBy, edgeless)
	needed := needed(settings, edgeBy, unseen, edgeless)
	for _, setting := range missing {
		if !slices.Contains(needed, setting) {
			problems = append(problems, fmt.Sprintf("missingEdges: %s is shown, needs no case, or does not exist: remove the row", setting))
		}
	}
	for _, setting := range needed {
		if !slices.Contains(missing, setting) {
			problems = append(problems, fmt.Sprintf("no case has a value of %s at an edge: write one with %s in covers (docs/cases.md), or say in edgeless why there is none", setting, setting+behave.EdgeSuffix))
		}
	}
	return problems
}

// staleRows returns the problems of a table of settings that need no case with a kind of value:
// rows that match no setting, and rows for settings that have such a case. by has the file of the
// case.
func staleRows(table, kind string, settings []string, by, rows map[string]string) []string {
	var problems []string
	for _, pattern := range slices.Sorted(maps.Keys(rows)) {
		matches := slices.DeleteFunc(slices.Clone(settings), func(s string) bool { return !matchesAny(map[string]string{pattern: ""}, s) })
		if len(matches) == 0 {
			problems = append(problems, fmt.Sprintf("%s: there is no %s; %s", table, pattern, suggest.DidYouMean(pattern, settings)))
		}
		for _, setting := range matches {
			if file := by[setting]; file != "" {
				problems = append(problems, fmt.Sprintf("%s: %s shows %s of %s, which matches %s: remove the row", table, file, kind, setting, pattern))
			}
		}
	}
	return problems
}

// needed returns the annotations and ConfigMap keys that have no case in by and match no row of the
// tables.
func needed(settings []string, by map[string]string, tables ...map[string]string) []string {
	return slices.DeleteFunc(slices.Clone(settings), func(s string) bool {
		return strings.HasPrefix(s, "flag/") || by[s] != "" || slices.ContainsFunc(tables, func(rows map[string]string) bool { return matchesAny(rows, s) })
	})
}

// matchesAny reports whether a setting matches the pattern of a row.
func matchesAny(rows map[string]string, setting string) bool {
	for pattern := range rows {
		if ok, _ := path.Match(pattern, setting); ok {
			return true
		}
	}
	return false
}

func TestInvalidProblems(t *testing.T) {
	all := []string{"annotation/a", "annotation/b", "config/k", "config/l", "flag/f"}
	for name, c := range map[string]struct {
		bad, never string
		want       []string
	}{
		"complete":       {bad: "annotation/a config/k", never: "annotation/b"},
		"without a case": {bad: "annotation/a", never: "annotation/b", want: []string{"no case has an invalid value of config/k"}},
		"row has a case": {bad: "annotation/a annotation/b config/k", never: "annotation/b", want: []string{"a.yaml shows an invalid value of annotation/b"}},
		"unknown row":    {bad: "annotation/a annotation/b config/k", never: "annotation/bb", want: []string{"there is no annotation/bb"}},
	} {
		t.Run(name, func(t *testing.T) {
			badBy := map[string]string{}
			for setting := range strings.FieldsSeq(c.bad) {
				badBy[setting] = "a.yaml"
			}
			got := invalidProblems(all, badBy, map[string]string{"config/l": "why"}, map[string]string{c.never: "why"})
			if !slices.EqualFunc(got, c.want, strings.Contains) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestEdgeProblems(t *testing.T) {
	all := []string{"annotation/a", "annotation/b", "config/k", "config/l", "flag/f"}
	for name, c := range map[string]struct {
		edge, edgeless string
		missing, want  []string
	}{
		"complete":           {edge: "annotation/a config/k", edgeless: "annotation/b"},
		"not yet":            {edge: "annotation/a", edgeless: "annotation/b", missing: []string{"config/k"}},
		"without a case":     {edge: "annotation/a", edgeless: "annotation/b", want: []string{"no case has a value of config/k at an edge"}},
		"row has a case":     {edge: "annotation/a annotation/b config/k", edgeless: "annotation/b", want: []string{"a.yaml shows a value at an edge of annotation/b"}},
		"unknown row":        {edge: "annotation/a annotation/b config/k", edgeless: "annotation/bb", want: []string{"there is no annotation/bb"}},
		"missing has a case": {edge: "annotation/a config/k", edgeless: "annotation/b", missing: []string{"config/k"}, want: []string{"missingEdges: config/k"}},
		"missing needs none": {edge: "annotation/a config/k", edgeless: "annotation/b", missing: []string{"annotation/b"}, want: []string{"missingEdges: annotation/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			edgeBy := map[string]string{}
			for setting := range strings.FieldsSeq(c.edge) {
				edgeBy[setting] = "a.yaml"
			}
			got := edgeProblems(all, edgeBy, map[string]string{"config/l": "why"}, map[string]string{c.edgeless: "why"}, c.missing)
			if !slices.EqualFunc(got, c.want, strings.Contains) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestCoverageProblems(t *testing.T) {
	all := []string{"annotation/a", "config/key-one", "config/key-two", "flag/f"}
	for name, c := range map[string]struct {
		shown   string // settings that have a case
		unseen  string
		missing []string
		want    []string
	}{
		"complete":           {shown: "annotation/a flag/f", unseen: "config/key-*"},
		"without a case":     {shown: "annotation/a flag/f config/key-one", want: []string{"no case covers config/key-two"}},
		"unseen has a case":  {shown: "annotation/a flag/f config/key-one", unseen: "config/key-*", want: []string{"unseen: a.yaml shows config/key-one"}},
		"unseen is unknown":  {shown: "annotation/a flag/f config/key-one config/key-two", unseen: "config/key-onne", want: []string{"did you mean config/key-one?"}},
		"missing has a case": {shown: "annotation/a flag/f config/key-one config/key-two", missing: []string{"flag/f"}, want: []string{"missing: a.yaml shows flag/f"}},
		"missing is unknown": {shown: "annotation/a flag/f config/key-one config/key-two", missing: []string{"flag/ff"}, want: []string{"did you mean flag/f?"}},
		"missing":            {shown: "annotation/a config/key-one config/key-two", missing: []string{"flag/f"}},
		"missing and unseen": {shown: "annotation/a config/key-one config/key-two", missing: []string{"flag/f"}, unseen: "flag/*", want: []string{"unseen has flag/f as well"}},
	} {
		t.Run(name, func(t *testing.T) {
			shownBy, unseen := map[string]string{}, map[string]string{}
			for setting := range strings.FieldsSeq(c.shown) {
				shownBy[setting] = "a.yaml"
			}
			for pattern := range strings.FieldsSeq(c.unseen) {
				unseen[pattern] = "why"
			}
			got := coverageProblems(all, shownBy, unseen, c.missing)
			if !slices.EqualFunc(got, c.want, strings.Contains) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
