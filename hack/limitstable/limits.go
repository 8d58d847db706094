package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"windtunnel.dev/controller/options"
)

// limit is one row of the table.
type limit struct {
	study string // the sweep in studies/limits
	what  string
	set   string // what to set
	find  func([]run) (finding, error)
}

// finding is the result of a sweep about a limit, as cells of the tables.
type finding struct {
	standard     string // the default
	ends         string
	client, said string // the first symptom for clients, and the log lines about it
	points       []point
}

// point is the result of one run.
type point struct{ setting, good, bad, outcome string }

// end is the size at which a run reached a limit. Sizes are in the unit of the limit; 0 means that
// there was none.
type end struct {
	good, bad float64 // the largest size without a symptom, and the smallest with one
	client    string  // the first symptom for clients
}

// none is the cell for the absence of a symptom or log line.
const none = "none"

// defaults are the controller's defaults.
var defaults = options.Defaults(1, false)

// limits are the rows of the table, in its order.
var limits = []limit{
	{
		"backends-dictionary", "backends: dictionary `configuration_data`",
		"`lua-shared-dicts: \"configuration_data: SIZE\"`, several times the size of the backends (`GET /configuration/backends`). Alert on the metric `nginx_ingress_controller_dynamic_complaints_total`.",
		dictionary("configuration_data", backendsRefused("no memory"), "bytes", endpoints),
	},
	{
		"post-body", "POST of backends: `client_max_body_size` of the status port, 1 MiB more than the larger one of `configuration_data` and `certificate_data`",
		"The same dictionary: the body grows with it. Only backends that grow by more than 1 MiB at once end here first.",
		dictionary("configuration_data", backendsRefused("413 "), "bytes", nil),
	},
	{
		"certificates-dictionary", "certificates: dictionary `certificate_data`",
		"`lua-shared-dicts: \"certificate_data: SIZE\"`. Chains and RSA keys need several times as much as the certificates of this sweep (ECDSA, no chain).",
		dictionary("certificate_data", evicted(`certificate_data dictionary is full|certificate \S+: no memory`), "certificates", nil),
	},
	{
		"hosts-dictionary", "hosts with certificates: dictionary `certificate_servers`",
		"`lua-shared-dicts: \"certificate_servers: SIZE\"`. Long host names need more.",
		dictionary("certificate_servers", evicted(`certificate_servers dictionary is full|host \S+: no memory`), "hosts", nil),
	},
	{
		"ewma-dictionary", "scores of endpoints with `load-balance: ewma`: dictionaries `balancer_ewma` and `balancer_ewma_last_touched_at`",
		"`lua-shared-dicts: \"balancer_ewma: SIZE, balancer_ewma_last_touched_at: SIZE\"`. Endpoints without a score get requests as if they were the fastest.",
		dictionary("balancer_ewma", scored, "endpoints", nil),
	},
	{
		"connections", "`max-worker-connections`, per worker",
		"`max-worker-connections`, above twice the open streams of a worker and its keepalive connections to pods. After a reload, old workers keep their streams and new ones begin with none.",
		counted(defaults.MaxWorkerConnections, websockets(`worker_connections are not enough while`), "websockets of a worker"),
	},
	{
		"open-files", "`max-worker-open-files`, per worker",
		"The limit of open files of the container (`ulimit -n`), which the default follows, and `max-worker-open-files` only to lower it.",
		counted(defaults.MaxWorkerOpenFiles, websockets(`Too many open files`), "websockets of a worker"),
	},
	{
		"nginx-conf", "nginx.conf: `nginx -t`, and the controller's wait for new workers",
		"Nothing. `nginx -t` has no bound in time. Fewer hosts or paths per controller (`--ingress-class`, `--watch-namespace`) keep both short; `--sync-rate-limit` makes them rarer.",
		tested,
	},
	{
		"nginx-conf", "nginx.conf: `server_names_hash_max_size` and `server_names_hash_bucket_size`",
		"Nothing: the controller raises both to what the hosts need. `server-name-hash-max-size` and `server-name-hash-bucket-size` are lower bounds.",
		hashed,
	},
	{
		"review-size", "admission review: paths of an ingress",
		"Nothing: divide the ingress. Another limit, of an AdmissionReview of 9 MiB, is beyond what an API server accepts.",
		reviewed,
	},
	{
		"review-size", "admission review: time limit of the webhook (`timeoutSeconds`)",
		"`timeoutSeconds` of the ValidatingWebhookConfiguration, up to 30. `--disable-full-test` makes a review shorter.",
		reviewTime,
	},
}

// dictionary returns a function that finds the limit of a shared dictionary for each measured size,
// and extrapolates it to the default size. also, if not nil, returns a text to add for the
// extrapolated limit.
func dictionary(name string, ends func(run) (end, *regexp.Regexp, error), unit string, also func([]run, float64) string) func([]run) (finding, error) {
	return func(runs []run) (finding, error) {
		standard := float64(defaults.LuaSharedDicts[name]) * 1024
		return find(runs, ends, scale{
			unit: unit, standard: standard, show: kib, also: also,
			setting: func(value string) (float64, error) { return sizeIn(value, name) },
		})
	}
}

// counted returns a function that finds the limit of a setting that is a number. A default of 0
// depends on the machine.
func counted(standard int, ends func(run) (end, *regexp.Regexp, error), unit string) func([]run) (finding, error) {
	return func(runs []run) (finding, error) {
		return find(runs, ends, scale{
			unit: unit, standard: float64(standard), show: func(n float64) string { return number(n, false) },
			setting: func(value string) (float64, error) { return strconv.ParseFloat(value, 64) },
		})
	}
}

// scale describes the setting and the unit of a limit.
type scale struct {
	unit     string  // of sizes
	standard float64 // the default setting; 0 if it is not a size
	show     func(float64) string
	setting  func(value string) (float64, error) // the setting of a value of the sweep
	also     func([]run, float64) string
}

// find finds the limit in each run, and extrapolates it to the default setting.
func find(runs []run, ends func(run) (end, *regexp.Regexp, error), s scale) (finding, error) {
	f := finding{standard: s.show(s.standard)}
	if s.standard == 0 {
		f.standard = "0: by the machine"
	}
	var at []string
	var settings, sizes []float64
	for _, r := range runs {
		setting, err := s.setting(r.value)
		if err != nil {
			return f, fmt.Errorf("value %s: %w", r.value, err)
		}
		e, pattern, err := ends(r)
		if err != nil {
			return f, err
		}
		p := point{setting: s.show(setting), good: number(e.good, false), bad: number(e.bad, false), outcome: r.outcome}
		if e.bad == 0 {
			p.bad = none
			f.points = append(f.points, p)
			continue
		}
		f.points = append(f.points, p)
		settings, sizes = append(settings, setting), append(sizes, e.good)
		at = append(at, fmt.Sprintf("%s: %s %s", s.show(setting), number(e.good, false), s.unit))
		if f.client == "" {
			f.client = e.client
			if f.said, err = r.said(pattern); err != nil {
				return f, err
			}
		}
	}
	if len(at) == 0 {
		f.ends, f.client, f.said = "not reached", none, none
		return f, nil
	}
	if base, slope, ok := fit(settings, sizes); ok && s.standard > 0 {
		size := base + slope*s.standard
		text := fmt.Sprintf("%s: %s %s (computed)", s.show(s.standard), number(size, true), s.unit)
		if s.also != nil {
			text += s.also(runs, size)
		}
		at = append(at, text)
	}
	f.ends = strings.Join(at, "; ")
	if f.said == "" {
		f.said = none
	}
	return f, nil
}

// sizeIn returns the size in bytes of a dictionary, from a value of lua-shared-dicts.
func sizeIn(value, name string) (float64, error) {
	found := regexp.MustCompile(`(?:^|[ ,])` + regexp.QuoteMeta(name) + `: *(\d+)([kKmM]?)`).FindStringSubmatch(value)
	if found == nil {
		return 0, fmt.Errorf("it does not have the size of %s", name)
	}
	n, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		return 0, err
	}
	if found[2] == "k" || found[2] == "K" {
		return n * 1024, nil
	}
	return n * 1024 * 1024, nil // a plain number is in MB
}

// webhookTimeout is Kubernetes's default for timeoutSeconds of a webhook.
const webhookTimeout = 10 * time.Second
