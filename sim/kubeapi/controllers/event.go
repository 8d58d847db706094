package controllers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
)

// recordEvents sets up the recorder of the events that kubectl describe and kubectl events print.
// As in any controller, the recorder aggregates repeated events and drops events above its rate.
func (c *cluster) recordEvents(ctx context.Context) {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: c.client.CoreV1().Events("")})
	c.events = broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "windtunnel-controllers"})
}
