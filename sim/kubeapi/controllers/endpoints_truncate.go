package controllers

import corev1 "k8s.io/api/core/v1"

// maxAddresses is the number of addresses that an Endpoints object may have. Kubernetes truncates
// larger ones since v1.22.
const maxAddresses = 1000

// truncateSubsets removes addresses beyond the limit, those that are not ready first, and reports
// whether there were any. Each subset loses about the same share.
func truncateSubsets(subsets []corev1.EndpointSubset) bool {
	var ready, notReady []int
	for _, s := range subsets {
		ready, notReady = append(ready, len(s.Addresses)), append(notReady, len(s.NotReadyAddresses))
	}
	if sum(ready)+sum(notReady) <= maxAddresses {
		return false
	}
	keep := shares(ready, maxAddresses)
	keepNotReady := shares(notReady, maxAddresses-sum(keep))
	for i := range subsets {
		subsets[i].Addresses = subsets[i].Addresses[:keep[i]]
		subsets[i].NotReadyAddresses = subsets[i].NotReadyAddresses[:keepNotReady[i]]
	}
	return true
}

// shares reduces numbers proportionally, so that their sum is at most limit.
func shares(of []int, limit int) []int {
	total := sum(of)
	kept := make([]int, len(of))
	if total <= limit {
		copy(kept, of)
		return kept
	}
	for i, n := range of {
		kept[i] = n * limit / total
	}
	for i := range kept { // the rest that rounding down leaves
		if kept[i] < of[i] && sum(kept) < limit {
			kept[i]++
		}
	}
	return kept
}

func sum(numbers []int) (total int) {
	for _, n := range numbers {
		total += n
	}
	return total
}
