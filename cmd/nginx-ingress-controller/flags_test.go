package main

import (
	"bytes"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"windtunnel.dev/internal/golden"
)

// theirs lists all flags of ingress-nginx and their defaults.
const theirs = `
annotations-prefix nginx.ingress.kubernetes.io
apiserver-host
bucket-factor 0
certificate-authority
configmap
controller-class k8s.io/ingress-nginx
deep-inspect true
default-backend-service
default-server-port 8181
default-ssl-certificate
disable-catch-all false
disable-full-test false
disable-leader-election false
disable-svc-external-name false
disable-sync-events false
dynamic-configuration-retries 15
election-id ingress-controller-leader
election-ttl 30s
enable-annotation-validation true
enable-metrics false
enable-ssl-chain-completion false
enable-ssl-passthrough false
enable-topology-aware-routing false
exclude-socket-metrics []
health-check-path /healthz
health-check-timeout 10
healthz-host
healthz-port 10254
http-port 80
https-port 443
ingress-class nginx
ingress-class-by-name false
internal-logger-address 127.0.0.1:11514
kubeconfig
length-buckets [10.000000,20.000000,30.000000,40.000000,50.000000,60.000000,70.000000,80.000000,90.000000,100.000000]
max-buckets 100
maxmind-edition-ids GeoLite2-City,GeoLite2-ASN
maxmind-license-key
maxmind-mirror
maxmind-retries-count 1
maxmind-retries-timeout 0s
metrics-per-host true
metrics-per-undefined-host false
monitor-max-batch-size 10000
post-shutdown-grace-period 10
profiler-address 127.0.0.1
profiler-port 10245
profiling true
publish-service
publish-status-address
report-node-internal-ip-address false
report-status-classes false
shutdown-grace-period 0
size-buckets [10.000000,100.000000,1000.000000,10000.000000,100000.000000,1000000.000000,10000000.000000]
ssl-passthrough-proxy-port 442
status-port 10246
status-update-interval 60
stream-port 10247
sync-period 0s
sync-rate-limit 0.3
tcp-services-configmap
time-buckets [0.005000,0.010000,0.025000,0.050000,0.100000,0.250000,0.500000,1.000000,2.500000,5.000000,10.000000]
udp-services-configmap
update-status true
update-status-on-shutdown true
validating-webhook
validating-webhook-certificate
validating-webhook-key
version false
watch-ingress-without-class false
watch-namespace
watch-namespace-selector
`

func TestEveryFlagOfIngressNginxIsAccepted(t *testing.T) {
	f, err := parseFlags(nil)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(strings.TrimSpace(theirs) + "\n") {
		count++
		name, want, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch flag := f.set.Lookup(name); {
		case flag == nil:
			t.Errorf("--%s is missing", name)
		case flag.DefValue != want:
			t.Errorf("the default of --%s is %q, want %q", name, flag.DefValue, want)
		}
	}
	if count != 72 {
		t.Errorf("%d flags, ingress-nginx has 72", count)
	}
}

func TestBadFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--health-check-path=/":                            `--health-check-path "/": must be a path`,
		"--health-check-path=/a{b":                         `--health-check-path "/a{b": must be a path`,
		"--health-check-path=/a/../b":                      `--health-check-path "/a/../b": must be a path`,
		"--election-ttl=0s":                                "--election-ttl 0s: must be at least 1s",
		"--election-ttl=999ms":                             "--election-ttl 999ms: must be at least 1s",
		"--election-id=":                                   "--election-id: must not be empty",
		"--publish-service=a/b --publish-status-address=c": "--publish-service and --publish-status-address exclude each other",
		"--time-buckets=1,1":                               "--time-buckets [1 1]: each must be greater than the one before",
		"--size-buckets=2,1":                               "--size-buckets",
		"--sync-rate-limit=NaN":                            "--sync-rate-limit NaN: must be greater than 0",
		"--dynamic-sync-rate-limit=NaN":                    "--dynamic-sync-rate-limit NaN: must not be less than",
		"--bucket-factor=NaN":                              "--bucket-factor NaN: must be greater than 1",
		"--bucket-factor=1":                                "--bucket-factor 1: must be greater than 1",
		"--validating-webhook=:8443":                       "--validating-webhook needs",
		"--validating-webhook=8443 --validating-webhook-certificate=a --validating-webhook-key=b": "--validating-webhook 8443:",
	} {
		if _, err := parseFlags(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

func TestUnknownMetricIsNotExcluded(t *testing.T) {
	f, err := parseFlags([]string{"--exclude-socket-metrics=bytes_sent, nginx_ingress_controller_requests,request_time"})
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	f.metrics.warn(f.logger(&said))
	if got := said.String(); strings.Count(got, "has no effect") != 1 || !strings.Contains(got, "--exclude-socket-metrics request_time has no effect") {
		t.Errorf("log %q", got)
	}
}

func TestStatusIntervalHasAMinimum(t *testing.T) {
	f, err := parseFlags([]string{"--status-update-interval=1"})
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	if got := f.status.options(f.logger(&said)).Interval; got != seconds(5) || !strings.Contains(said.String(), "using 5") {
		t.Errorf("%v, log %q", got, said.String())
	}
}

// TestFlagsPage compares docs/flags.md with the flags, or writes it with -update.
func TestFlagsPage(t *testing.T) {
	f, err := parseFlags(nil)
	if err != nil {
		t.Fatal(err)
	}
	klogs := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(klogs)
	var page bytes.Buffer
	page.WriteString("# Flags of nginx-ingress-controller\n\n*A test writes this page from the flags.* The flags of ingress-nginx have the same names and\ndefaults here; the last table lists flags that ingress-nginx does not have.\n")
	table := func(title string, include func(*pflag.Flag) bool) {
		fmt.Fprintf(&page, "\n## %s\n\n| flag | default | what it does |\n|---|---|---|\n", title)
		f.set.VisitAll(func(flag *pflag.Flag) {
			if include(flag) {
				fmt.Fprintf(&page, "| `--%s` | %s | %s |\n", flag.Name, code(flag.DefValue), strings.ReplaceAll(flag.Usage, "|", `\|`))
			}
		})
	}
	isTheirs := func(flag *pflag.Flag) bool {
		return strings.Contains(theirs, "\n"+flag.Name+"\n") || strings.Contains(theirs, "\n"+flag.Name+" ")
	}
	table("Flags of ingress-nginx", func(flag *pflag.Flag) bool { return isTheirs(flag) && ignored[flag.Name] == "" })
	table("Flags of ingress-nginx without effect here", func(flag *pflag.Flag) bool { return ignored[flag.Name] != "" })
	table("Additional flags", func(flag *pflag.Flag) bool { return !isTheirs(flag) && klogs.Lookup(flag.Name) == nil })
	page.WriteString("\nThe flags of klog are accepted as well: `-v=2` or more logs details that help to find problems. Those\nfor log files and headers have no effect, because all lines go to standard error.\n")
	golden.Check(t, "../../docs/flags.md", page.Bytes())
}

func code(value string) string {
	if value == "" || value == "[]" {
		return ""
	}
	return "`" + value + "`"
}

// A list with spaces after its commas, as users write it in YAML, is a list of plain addresses.
func TestPublishStatusAddress(t *testing.T) {
	f, err := parseFlags([]string{"--publish-status-address=10.0.0.1, lb.example ,,"})
	if err != nil {
		t.Fatal(err)
	}
	got := f.status.options(slog.New(slog.DiscardHandler)).Addresses.Fixed
	if want := []string{"10.0.0.1", "lb.example"}; !slices.Equal(got, want) {
		t.Errorf("addresses %q, want %q", got, want)
	}
}
