package main

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/pflag"
)

// ignored are flags of ingress-nginx that have no effect here, with the reason. They are accepted,
// so that its command lines work unchanged.
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

func addIgnored(s *pflag.FlagSet) {
	s.Int("health-check-timeout", 10, "")
	s.String("internal-logger-address", "127.0.0.1:11514", "")
	s.String("maxmind-edition-ids", "GeoLite2-City,GeoLite2-ASN", "")
	s.String("maxmind-license-key", "", "")
	s.String("maxmind-mirror", "", "")
	s.Int("maxmind-retries-count", 1, "")
	s.Duration("maxmind-retries-timeout", 0*time.Second, "")
	for name, reason := range ignored {
		s.Lookup(name).Usage = "no effect: " + reason
	}
}

// warnIgnored logs a warning for each flag on the command line that has no effect.
func warnIgnored(set *pflag.FlagSet, log *slog.Logger) {
	set.Visit(func(given *pflag.Flag) {
		if reason := ignored[given.Name]; reason != "" {
			log.Warn(fmt.Sprintf("--%s has no effect: %s", given.Name, reason))
		}
	})
}
