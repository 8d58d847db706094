package kinds

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func eventFromCore(obj runtime.Object) runtime.Object {
	ev := obj.(*corev1.Event)
	return &eventsv1.Event{
		ObjectMeta:               ev.ObjectMeta,
		EventTime:                ev.EventTime,
		Series:                   (*eventsv1.EventSeries)(ev.Series),
		ReportingController:      ev.ReportingController,
		ReportingInstance:        ev.ReportingInstance,
		Action:                   ev.Action,
		Reason:                   ev.Reason,
		Regarding:                ev.InvolvedObject,
		Related:                  ev.Related,
		Note:                     ev.Message,
		Type:                     ev.Type,
		DeprecatedSource:         ev.Source,
		DeprecatedFirstTimestamp: ev.FirstTimestamp,
		DeprecatedLastTimestamp:  ev.LastTimestamp,
		DeprecatedCount:          ev.Count,
	}
}

func eventToCore(obj runtime.Object) runtime.Object {
	ev := obj.(*eventsv1.Event)
	return &corev1.Event{
		ObjectMeta:          ev.ObjectMeta,
		EventTime:           ev.EventTime,
		Series:              (*corev1.EventSeries)(ev.Series),
		ReportingController: ev.ReportingController,
		ReportingInstance:   ev.ReportingInstance,
		Action:              ev.Action,
		Reason:              ev.Reason,
		InvolvedObject:      ev.Regarding,
		Related:             ev.Related,
		Message:             ev.Note,
		Type:                ev.Type,
		Source:              ev.DeprecatedSource,
		FirstTimestamp:      ev.DeprecatedFirstTimestamp,
		LastTimestamp:       ev.DeprecatedLastTimestamp,
		Count:               ev.DeprecatedCount,
	}
}
