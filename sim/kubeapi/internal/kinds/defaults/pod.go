package defaults

import (
	"maps"

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
// has requests or limits of CPU or memory.
func qualityOf(spec *corev1.PodSpec) corev1.PodQOSClass {
	anything, limited := false, true
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for _, c := range containers {
			sum(requests, c.Resources.Requests)
			sum(limits, c.Resources.Limits)
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				limit, request := c.Resources.Limits[name], c.Resources.Requests[name]
				anything = anything || limit.Sign() > 0 || request.Sign() > 0
				limited = limited && limit.Sign() > 0
			}
		}
	}
	same := maps.EqualFunc(requests, limits, func(a, b quantity.Quantity) bool { return a.Cmp(b) == 0 })
	switch {
	case !anything:
		return corev1.PodQOSBestEffort
	case limited && same:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

func sum(into, list corev1.ResourceList) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if asked, there := list[name]; there && asked.Sign() > 0 {
			total := into[name]
			total.Add(asked)
			into[name] = total
		}
	}
}
