package churn

import (
	"math/rand/v2"
	"time"

	"windtunnel.dev/sim/corpus"
)

// Issue is a new certificate for the host of an ingress.
type Issue struct {
	At      time.Duration // from the beginning of the timeline
	Ingress corpus.Ingress
	Number  int // of the certificate among those of the host; the population's is 1
}

// CertificateRotation returns new certificates for one host after another. The hosts take turns in
// a seeded order: each comes once before any comes again. The times are chosen as in RollingUpdate.
func CertificateRotation(p corpus.Population, o Options) []Issue {
	if len(p.Ingresses) == 0 {
		return nil
	}
	chance := rand.New(rand.NewPCG(o.Seed, certificateStream))
	var issues []Issue
	var order []int
	for i, at := range times(o) {
		place := i % len(p.Ingresses)
		if place == 0 {
			order = chance.Perm(len(p.Ingresses))
		}
		issues = append(issues, Issue{At: at, Ingress: p.Ingresses[order[place]], Number: 2 + i/len(p.Ingresses)})
	}
	return issues
}
