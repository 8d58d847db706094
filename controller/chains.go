package controller

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
)

// completeChains is the cluster with the certificates of hosts completed by
// those of the authorities between them and a root, if that is asked for.
func (c *controller) completeChains(ctx context.Context, cluster snapshot.Snapshot) (snapshot.Snapshot, []model.Finding) {
	if c.chains == nil {
		return cluster, nil
	}
	return c.chains.Complete(ctx, cluster, certificateNames(cluster, c.Options.DefaultSSLCertificate), time.Now())
}

// certificateNames are the Secrets whose certificates hosts are served with.
func certificateNames(cluster snapshot.Snapshot, fallback types.NamespacedName) []types.NamespacedName {
	names := []types.NamespacedName{fallback}
	for _, ingress := range cluster.Ingresses {
		for _, tls := range ingress.Spec.TLS {
			names = append(names, types.NamespacedName{Namespace: ingress.Namespace, Name: tls.SecretName})
		}
	}
	return names
}
