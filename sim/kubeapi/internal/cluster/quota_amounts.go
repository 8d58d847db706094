package cluster

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	podresources "k8s.io/component-helpers/resource"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

const (
	countPrefix      = "count/"
	storageClassMark = ".storageclass.storage.k8s.io/" // between a storage class and the amount for its claims
)

// plainNames are the names of object counts that predate the prefix count/.
var plainNames = []string{"configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets", "services"}

// plainRequests are the requests of pods that quotas can name with or without the prefix requests.
var plainRequests = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// amounts returns the amounts of an object that quotas can limit. A pod that has ended takes no CPU and
// no memory, and counts for count/pods but not for pods.
func amounts(res *resource.Resource, obj runtime.Object) corev1.ResourceList {
	takes := corev1.ResourceList{}
	count := func(name string, n int64) {
		takes[corev1.ResourceName(name)] = *quantity.NewQuantity(n, quantity.DecimalSI)
	}
	count(countPrefix+res.GroupResource().String(), 1)
	if res.Group == "" && slices.Contains(plainNames, res.Name) {
		count(res.Name, 1)
	}
	switch obj := obj.(type) {
	case *corev1.Pod:
		if obj.Status.Phase == corev1.PodSucceeded || obj.Status.Phase == corev1.PodFailed {
			delete(takes, corev1.ResourcePods)
		} else {
			addPod(takes, obj)
		}
	case *corev1.PersistentVolumeClaim:
		addClaim(takes, obj, count)
	case *corev1.Service:
		count(string(corev1.ResourceServicesNodePorts), int64(nodePorts(obj)))
		if obj.Spec.Type == corev1.ServiceTypeLoadBalancer {
			count(string(corev1.ResourceServicesLoadBalancers), 1)
		}
	}
	return takes
}

func nodePorts(service *corev1.Service) (n int) {
	for _, port := range service.Spec.Ports {
		if port.NodePort != 0 {
			n++
		}
	}
	return n
}

func addPod(takes corev1.ResourceList, pod *corev1.Pod) {
	for name, amount := range podresources.PodRequests(pod, podresources.PodResourcesOptions{}) {
		takes["requests."+name] = amount
		if slices.Contains(plainRequests, name) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			takes[name] = amount
		}
	}
	for name, amount := range podresources.PodLimits(pod, podresources.PodResourcesOptions{}) {
		takes["limits."+name] = amount
	}
}

func addClaim(takes corev1.ResourceList, claim *corev1.PersistentVolumeClaim, count func(name string, n int64)) {
	storage, ofClass := claim.Spec.Resources.Requests[corev1.ResourceStorage], ""
	takes[corev1.ResourceRequestsStorage] = storage
	if class := claim.Spec.StorageClassName; class != nil && *class != "" {
		ofClass = *class + storageClassMark
		takes[corev1.ResourceName(ofClass)+corev1.ResourceRequestsStorage] = storage
		count(ofClass+string(corev1.ResourcePersistentVolumeClaims), 1)
	}
}

// countedKind returns the group resource whose objects count toward an amount of a quota; "" for a name
// that limits nothing.
func countedKind(name corev1.ResourceName) string {
	text := string(name)
	if kind, prefixed := strings.CutPrefix(text, countPrefix); prefixed {
		return kind
	}
	switch {
	case slices.Contains(plainNames, text):
		return text
	case strings.HasPrefix(text, "services."):
		return "services"
	case name == corev1.ResourceRequestsStorage, strings.Contains(text, storageClassMark):
		return "persistentvolumeclaims"
	case slices.Contains(plainRequests, name), strings.HasPrefix(text, "requests."), strings.HasPrefix(text, "limits."), strings.HasPrefix(text, corev1.ResourceHugePagesPrefix):
		return "pods"
	}
	return ""
}

// mandatory are the amounts that each container of a pod must specify if a quota limits them.
var mandatory = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceMemory,
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
}

// gives reports whether a container or its pod specifies the request or limit that a quota limits under
// this name.
func gives(of corev1.ResourceRequirements, pod *corev1.ResourceRequirements, name corev1.ResourceName) bool {
	plain, limits := strings.CutPrefix(string(name), "limits.")
	plain = strings.TrimPrefix(plain, "requests.")
	list := func(r corev1.ResourceRequirements) corev1.ResourceList {
		if limits {
			return r.Limits
		}
		return r.Requests
	}
	_, given := list(of)[corev1.ResourceName(plain)]
	if !given && pod != nil {
		_, given = list(*pod)[corev1.ResourceName(plain)]
	}
	return given
}
