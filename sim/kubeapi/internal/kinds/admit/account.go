package admit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

const (
	defaultAccount   = "default"
	tokenVolume      = "kube-api-access-"
	tokenPath        = "/var/run/secrets/kubernetes.io/serviceaccount"
	tokenSeconds     = 3607 // lifetime of the token, as in kube-apiserver
	projectedMode    = 0o644
	defaultAttempts  = 10 // the controller creates the account shortly after the namespace
	betweenAttempts  = 100 * time.Millisecond
	bundleConfigMap  = "kube-root-ca.crt"
	bundleKey        = "ca.crt"
	namespaceOfField = "metadata.namespace"
)

// Pod gives a pod a service account, its token and its image pull secrets (plugin ServiceAccount).
// If no controller creates accounts, a missing account is not an error, and the pod gets no token.
func Pod(obj runtime.Object, in resource.Cluster) error {
	pod := obj.(*corev1.Pod)
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return nil
	}
	spec := &pod.Spec
	if spec.ServiceAccountName == "" {
		spec.ServiceAccountName = defaultAccount
	}
	account := accountOf(pod, in)
	switch {
	case account == nil && in.AccountsRequired():
		missing := errors.NewNotFound(schema.GroupResource{Resource: "serviceaccount"}, spec.ServiceAccountName)
		return errors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod.Name,
			fmt.Errorf("error looking up service account %s/%s: %w", pod.Namespace, spec.ServiceAccountName, missing))
	case account == nil:
		return nil
	}
	if wantsToken(pod, account) {
		mountToken(spec)
	}
	if len(spec.ImagePullSecrets) == 0 {
		spec.ImagePullSecrets = slices.Clone(account.ImagePullSecrets)
	}
	return nil
}

// accountOf returns the service account of a pod, or nil. Like kube-apiserver it waits a little for
// the account default.
func accountOf(pod *corev1.Pod, in resource.Cluster) *corev1.ServiceAccount {
	for attempt := 1; ; attempt++ {
		if account := in.Object("", "serviceaccounts", pod.Namespace, pod.Spec.ServiceAccountName); account != nil {
			return account.(*corev1.ServiceAccount)
		}
		if attempt == defaultAttempts || pod.Spec.ServiceAccountName != defaultAccount || !in.AccountsRequired() {
			return nil
		}
		time.Sleep(betweenAttempts)
	}
}

// wantsToken reports whether the containers of a pod get a token. The pod's setting takes precedence over
// the account's.
func wantsToken(pod *corev1.Pod, account *corev1.ServiceAccount) bool {
	for _, wish := range []*bool{pod.Spec.AutomountServiceAccountToken, account.AutomountServiceAccountToken} {
		if wish != nil {
			return *wish
		}
	}
	return true
}

// mountToken mounts a token into each container that has nothing else at its path.
func mountToken(spec *corev1.PodSpec) {
	name, there := "", false
	for _, volume := range spec.Volumes {
		if there = strings.HasPrefix(volume.Name, tokenVolume); there {
			name = volume.Name
			break
		}
	}
	if !there {
		name = tokenVolume + rand.String(5)
	}
	mounted := false
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			c := &containers[i]
			if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == tokenPath }) {
				c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, ReadOnly: true, MountPath: tokenPath})
				mounted = true
			}
		}
	}
	if mounted && !there {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: tokenSource()}})
	}
}

func tokenSource() *corev1.ProjectedVolumeSource {
	return &corev1.ProjectedVolumeSource{DefaultMode: new(int32(projectedMode)), Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: new(int64(tokenSeconds))}},
		{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: bundleConfigMap},
			Items: []corev1.KeyToPath{{Key: bundleKey, Path: bundleKey}}}},
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: namespaceOfField}}}}},
	}}
}
