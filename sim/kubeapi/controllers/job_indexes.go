package controllers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Indexed Jobs: each index from 0 to completions-1 needs one pod that succeeds.

const indexVariable = "JOB_COMPLETION_INDEX"

func (w *work) indexed() bool {
	return ptr.Deref(w.Spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion
}

// countIndexes counts each completed index once, however many of its pods have succeeded. So the
// status does not list their UIDs as uncounted.
func (w *work) countIndexes() {
	done := parseIndexes(w.Status.CompletedIndexes)
	for _, pod := range w.pods {
		if i := indexOf(pod); pod.Status.Phase == corev1.PodSucceeded && i >= 0 && i < int(ptr.Deref(w.Spec.Completions, 0)) {
			done[i] = true
		}
	}
	w.Status.CompletedIndexes = formatIndexes(done)
	w.Status.Succeeded, w.Status.UncountedTerminatedPods.Succeeded = int32(len(done)), nil
}

// freeIndexes returns the lowest n indexes that are neither completed nor taken by a pod.
func (w *work) freeIndexes(n int) []int {
	taken := parseIndexes(w.Status.CompletedIndexes)
	for _, pod := range w.pods {
		if !isOver(pod) && (pod.DeletionTimestamp == nil || ptr.Deref(w.Spec.PodReplacementPolicy, "") == batchv1.Failed) {
			taken[indexOf(pod)] = true
		}
	}
	var free []int
	for i := range int(ptr.Deref(w.Spec.Completions, 0)) {
		if len(free) < n && !taken[i] {
			free = append(free, i)
		}
	}
	return free
}

func (w *work) indexedPod(index int) *corev1.Pod {
	pod, text := w.newPod(), strconv.Itoa(index)
	pod.GenerateName = fmt.Sprintf("%s-%d-", w.Name, index)
	pod.Spec.Hostname = fmt.Sprintf("%s-%d", w.Name, index)
	pod.Labels, pod.Annotations = maps.Clone(pod.Labels), maps.Clone(pod.Annotations)
	for _, values := range []*map[string]string{&pod.Labels, &pod.Annotations} {
		if *values == nil {
			*values = map[string]string{}
		}
		(*values)[batchv1.JobCompletionIndexAnnotation] = text
	}
	variable := corev1.EnvVar{Name: indexVariable, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
		FieldPath: fmt.Sprintf("metadata.labels['%s']", batchv1.JobCompletionIndexAnnotation)}}}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if !slices.ContainsFunc(containers[i].Env, func(v corev1.EnvVar) bool { return v.Name == indexVariable }) {
				containers[i].Env = append(containers[i].Env, variable)
			}
		}
	}
	return pod
}

// indexOf returns the index of a pod, or -1.
func indexOf(pod *corev1.Pod) int {
	i, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return i
}

// parseIndexes reads numbers and ranges such as 0,2-4. It ignores other texts.
func parseIndexes(text string) map[int]bool {
	all := map[int]bool{}
	for part := range strings.SplitSeq(text, ",") {
		low, high, ranged := strings.Cut(part, "-")
		if !ranged {
			high = low
		}
		first, err := strconv.Atoi(low)
		last, err2 := strconv.Atoi(high)
		if err != nil || err2 != nil {
			continue
		}
		for i := first; i <= last; i++ {
			all[i] = true
		}
	}
	return all
}

// formatIndexes writes numbers as Kubernetes does: two in a row with a comma, more as a range.
func formatIndexes(indexes map[int]bool) string {
	sorted := slices.Sorted(maps.Keys(indexes))
	var parts []string
	for at := 0; at < len(sorted); {
		end := at
		for end+1 < len(sorted) && sorted[end+1] == sorted[end]+1 {
			end++
		}
		switch end - at {
		case 0:
			parts = append(parts, strconv.Itoa(sorted[at]))
		case 1:
			parts = append(parts, strconv.Itoa(sorted[at]), strconv.Itoa(sorted[end]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", sorted[at], sorted[end]))
		}
		at = end + 1
	}
	return strings.Join(parts, ",")
}
