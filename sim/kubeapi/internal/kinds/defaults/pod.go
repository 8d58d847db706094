package defaults

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

func Pod(pod, _ *corev1.Pod) {
	defaultPodSpec(&pod.Spec)
	setPointer(&pod.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks) // only for pods, not for pod templates
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			requestLimits(&containers[i].Resources)
		}
	}
	// podIP equals the first of podIPs; the client may have set either field.
	switch status := &pod.Status; {
	case status.PodIP == "" && len(status.PodIPs) > 0:
		status.PodIP = status.PodIPs[0].IP
	case status.PodIP != "" && (len(status.PodIPs) == 0 || status.PodIPs[0].IP != status.PodIP):
		status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	}
}

// requestLimits sets each missing resource request to the limit of that resource.
func requestLimits(r *corev1.ResourceRequirements) {
	for name, limit := range r.Limits {
		if _, said := r.Requests[name]; said {
			continue
		}
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		r.Requests[name] = limit.DeepCopy()
	}
}

func PreparePod(pod, old *corev1.Pod, _ resource.Cluster) {
	if old == nil {
		pod.Status.Phase, pod.Status.QOSClass = corev1.PodPending, qualityOf(&pod.Spec)
	}
}

// qualityOf returns the QoS class, by which a node chooses the pods to evict: Guaranteed if every
// container has CPU and memory limits and the requests equal the limits, BestEffort if no container
// has requests or limits of CPU or memory. The resources of the pod itself take precedence.
func qualityOf(spec *corev1.PodSpec) corev1.PodQOSClass {
	var all []corev1.ResourceRequirements
	if spec.Resources != nil {
		all = append(all, *spec.Resources)
	} else {
		for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
			all = append(all, c.Resources)
		}
	}
	limited := true
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	for _, r := range all {
		sum(requests, r.Requests)
		limited = sum(limits, r.Limits) == len(qualityResources) && limited
	}
	same := maps.EqualFunc(requests, limits, func(a, b quantity.Quantity) bool { return a.Cmp(b) == 0 })
	switch {
	case len(requests) == 0 && len(limits) == 0:
		return corev1.PodQOSBestEffort
	case limited && same:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

var qualityResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// sum adds the CPU and memory of a list, and returns how many of the two it has.
func sum(into, list corev1.ResourceList) (has int) {
	for _, name := range qualityResources {
		if asked := list[name]; asked.Sign() > 0 {
			total := into[name]
			total.Add(asked)
			into[name] = total
			has++
		}
	}
	return has
}
