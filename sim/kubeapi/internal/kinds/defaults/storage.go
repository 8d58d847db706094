package defaults

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

func Claim(pvc, old *corev1.PersistentVolumeClaim) {
	setPointer(&pvc.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	if old == nil {
		pvc.Status.Phase = corev1.ClaimPending
	}
}

func Volume(pv, old *corev1.PersistentVolume) {
	setPointer(&pv.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	setDefault(&pv.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
	if old == nil {
		pv.Status.Phase = corev1.VolumePending
	}
}

func StorageClass(sc, _ *storagev1.StorageClass) {
	setPointer(&sc.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
	setPointer(&sc.VolumeBindingMode, storagev1.VolumeBindingImmediate)
}
