package main

import (
	"flag"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// ignored are flags of ingress-nginx that have no effect here, with the reason. They are accepted,
// so its command lines work unchanged.
var ignored = map[string]string{
	"health-check-timeout":    "ingress-nginx does not use it either",
	"internal-logger-address": "there is no chroot",
	"maxmind-edition-ids":     maxmind,
	"maxmind-license-key":     maxmind,
	"maxmind-mirror":          maxmind,
	"maxmind-retries-count":   maxmind,
	"maxmind-retries-timeout": maxmind,
}

const maxmind = "the controller does not download GeoIP files; put them into /etc/ingress-controller/geoip"

// noEffect is the beginning of the usage of a flag without effect.
const noEffect = "no effect: "

func addIgnored(s *pflag.FlagSet) {
	s.Int("health-check-timeout", 10, "")
	s.String("internal-logger-address", "127.0.0.1:11514", "")
	s.String("maxmind-edition-ids", "GeoLite2-City,GeoLite2-ASN", "")
	s.String("maxmind-license-key", "", "")
	s.String("maxmind-mirror", "", "")
	s.Int("maxmind-retries-count", 1, "")
	s.Duration("maxmind-retries-timeout", 0*time.Second, "")
	for name, reason := range ignored {
		s.Lookup(name).Usage = noEffect + reason
	}
}

// addLogging adds the flags of klog. Those that choose where and how klog writes have no effect,
// because the controller's logger writes all lines.
func addLogging(s *pflag.FlagSet) {
	logging := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logging)
	logging.VisitAll(func(one *flag.Flag) {
		if one.Name != "v" && one.Name != "vmodule" {
			one.Usage = noEffect + "all lines go to standard error"
		}
	})
	s.AddGoFlagSet(logging)
}

// warnIgnored logs a warning for each flag without effect that the command line sets to a value
// other than its default.
func warnIgnored(set *pflag.FlagSet, log *slog.Logger) {
	set.Visit(func(given *pflag.Flag) {
		if reason, is := strings.CutPrefix(given.Usage, noEffect); is && given.Value.String() != given.DefValue {
			log.Warn(fmt.Sprintf("--%s has no effect: %s", given.Name, reason))
		}
	})
}
