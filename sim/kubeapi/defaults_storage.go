package kubeapi

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

func defaultClaim(pvc, old *corev1.PersistentVolumeClaim) {
	setMissing(&pvc.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	if old == nil {
		pvc.Status.Phase = corev1.ClaimPending
	}
}

func defaultVolume(pv, old *corev1.PersistentVolume) {
	setMissing(&pv.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	setDefault(&pv.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
	if old == nil {
		pv.Status.Phase = corev1.VolumePending
	}
}

func defaultStorageClass(sc, _ *storagev1.StorageClass) {
	setMissing(&sc.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
	setMissing(&sc.VolumeBindingMode, storagev1.VolumeBindingImmediate)
}
