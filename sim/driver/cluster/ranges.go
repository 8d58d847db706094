package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ranged are the resources that a LimitRange may bound for a pod.
var ranged = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// exceedsRanges returns why the LimitRanges of the namespace refuse pods of the subject, and which
// limits they add to its containers. The rules are those of Kubernetes' admission plugin
// LimitRanger: a container without a limit gets the default one, or else the maximum.
func (all demands) exceedsRanges(ranges []corev1.LimitRange) (problems, notices []string) {
	added, notices := addedLimits(ranges)
	for _, r := range ranges {
		for _, item := range r.Spec.Limits {
			for _, why := range all.refused(item, added) {
				problems = append(problems, fmt.Sprintf("the LimitRange %s %s", r.Name, why))
			}
		}
	}
	return problems, notices
}

// addedLimits returns the limits that LimitRanges add to containers that have none, with a notice
// about each.
func addedLimits(ranges []corev1.LimitRange) (added corev1.ResourceList, notices []string) {
	added = corev1.ResourceList{}
	for _, r := range ranges {
		for _, item := range r.Spec.Limits {
			if item.Type != corev1.LimitTypeContainer {
				continue
			}
			for _, of := range ranged {
				if limit, ok := defaultLimit(item, of); ok {
					added[of] = limit
					notices = append(notices, fmt.Sprintf("the LimitRange %s limits each container to %s of %s: the figures are those under this limit", r.Name, limit.String(), of))
				}
			}
		}
	}
	return added, notices
}

// refused returns why an item refuses parts of the pods. Added are the limits of containers that
// have none.
func (all demands) refused(item corev1.LimitRangeItem, added corev1.ResourceList) (whys []string) {
	for _, d := range all {
		for _, p := range d.partsOf(item.Type) {
			for _, of := range ranged {
				if why := exceeds(item, p, of, added); why != "" {
					whys = append(whys, why)
				}
			}
		}
	}
	return whys
}

// defaultLimit returns the limit of containers that have none.
func defaultLimit(item corev1.LimitRangeItem, of corev1.ResourceName) (resource.Quantity, bool) {
	if limit, ok := item.Default[of]; ok {
		return limit, true
	}
	limit, ok := item.Max[of]
	return limit, ok
}

// part is a container or a whole pod.
type part struct {
	what       string
	containers []claim
}

// partsOf returns the parts of a pod that a LimitRange bounds.
func (d demand) partsOf(kind corev1.LimitType) (parts []part) {
	switch kind {
	case corev1.LimitTypePod:
		return []part{{"the pod of " + d.what, d.containers}}
	case corev1.LimitTypeContainer:
		for _, c := range d.containers {
			parts = append(parts, part{"the container " + c.name + " of " + d.what, []claim{c}})
		}
	}
	return parts
}

// exceeds returns why an item refuses a part, "" if it does not. Added are the limits of containers
// that have none.
func exceeds(item corev1.LimitRangeItem, p part, of corev1.ResourceName, added corev1.ResourceList) string {
	var request, limit resource.Quantity
	limited := true
	for _, c := range p.containers {
		request.Add(c.requests[of])
		own, has := c.limits[of]
		if !has {
			own, has = added[of]
		}
		limited = limited && has
		limit.Add(own)
	}
	if least, ok := item.Min[of]; ok && request.Cmp(least) < 0 {
		return fmt.Sprintf("requires that %s requests %s of %s, and it requests %s", p.what, least.String(), of, request.String())
	}
	if limited && request.Cmp(limit) > 0 {
		return fmt.Sprintf("limits %s to %s of %s, and it requests %s", p.what, limit.String(), of, request.String())
	}
	most, ok := item.Max[of]
	switch {
	case ok && !limited:
		return fmt.Sprintf("requires that %s has a limit of %s, and it has none", p.what, of)
	case ok && limit.Cmp(most) > 0:
		return fmt.Sprintf("allows %s a limit of %s of %s, and it has %s", p.what, most.String(), of, limit.String())
	}
	ratio, ok := item.MaxLimitRequestRatio[of]
	switch {
	case ok && (!limited || request.IsZero()):
		return fmt.Sprintf("requires that %s has a limit of %s and a request for it", p.what, of)
	case ok && limit.AsApproximateFloat64() > ratio.AsApproximateFloat64()*request.AsApproximateFloat64():
		return fmt.Sprintf("allows %s a limit of %s that is %s times its request; they are %s and %s", p.what, of, ratio.String(), limit.String(), request.String())
	}
	return ""
}
