package defaults

import (
	corev1 "k8s.io/api/core/v1"
)

// LimitRange completes the limits for containers: a default that the client left out is the
// maximum, and a default request is the default limit, or the minimum without one.
func LimitRange(limits, _ *corev1.LimitRange) {
	for i := range limits.Spec.Limits {
		item := &limits.Spec.Limits[i]
		if item.Type != corev1.LimitTypeContainer {
			continue
		}
		item.Default = completed(item.Default, item.Max)
		item.DefaultRequest = completed(completed(item.DefaultRequest, item.Default), item.Min)
	}
}

// completed returns the list with the entries of others that it lacks.
func completed(list, others corev1.ResourceList) corev1.ResourceList {
	for name, value := range others {
		if _, there := list[name]; there {
			continue
		}
		if list == nil {
			list = corev1.ResourceList{}
		}
		list[name] = value.DeepCopy()
	}
	return list
}
