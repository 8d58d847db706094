package columns

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// Columns of the kinds that cluster administrators create.

const bindingColumns = "Name Role Age +Users +Groups +ServiceAccounts"

// subjects returns one cell for each kind of subject in a binding: users, groups and service
// accounts.
func subjects(all []rbacv1.Subject) (cells []any) {
	for _, kind := range []string{rbacv1.UserKind, rbacv1.GroupKind, rbacv1.ServiceAccountKind} {
		var names []string
		for _, s := range all {
			switch {
			case s.Kind != kind:
			case kind == rbacv1.ServiceAccountKind:
				names = append(names, s.Namespace+"/"+s.Name)
			default:
				names = append(names, s.Name)
			}
		}
		cells = append(cells, strings.Join(names, ", "))
	}
	return cells
}

var RoleBinding = resource.NewPrinter(bindingColumns, func(b *rbacv1.RoleBinding, now time.Time) []any {
	return append([]any{b.Name, b.RoleRef.Kind + "/" + b.RoleRef.Name, resource.Age(b, now)}, subjects(b.Subjects)...)
})

var ClusterRoleBinding = resource.NewPrinter(bindingColumns, func(b *rbacv1.ClusterRoleBinding, now time.Time) []any {
	return append([]any{b.Name, b.RoleRef.Kind + "/" + b.RoleRef.Name, resource.Age(b, now)}, subjects(b.Subjects)...)
})

var PriorityClass = resource.NewPrinter("Name #Value ?Global-Default Age PreemptionPolicy", func(pc *schedulingv1.PriorityClass, now time.Time) []any {
	preemption := ""
	if pc.PreemptionPolicy != nil {
		preemption = string(*pc.PreemptionPolicy)
	}
	return []any{pc.Name, pc.Value, pc.GlobalDefault, resource.Age(pc, now), preemption}
})

var RuntimeClass = resource.NewPrinter("Name Handler Age", func(rc *nodev1.RuntimeClass, now time.Time) []any {
	return []any{rc.Name, rc.Handler, resource.Age(rc, now)}
})

var NetworkPolicy = resource.NewPrinter("Name Pod-Selector Age", func(np *networkingv1.NetworkPolicy, now time.Time) []any {
	return []any{np.Name, metav1.FormatLabelSelector(&np.Spec.PodSelector), resource.Age(np, now)}
})

var IpAddress = resource.NewPrinter("Name ParentRef", func(ip *networkingv1.IPAddress, _ time.Time) []any {
	parent := "<none>"
	if p := ip.Spec.ParentRef; p != nil {
		parent = strings.Trim(strings.Join([]string{p.Group, p.Resource, p.Namespace, p.Name}, "/"), "/")
	}
	return []any{ip.Name, parent}
})

var ServiceCIDR = resource.NewPrinter("Name CIDRs Age", func(cidr *networkingv1.ServiceCIDR, now time.Time) []any {
	return []any{cidr.Name, strings.Join(cidr.Spec.CIDRs, ","), resource.Age(cidr, now)}
})

var StorageClass = resource.NewPrinter("Name Provisioner ReclaimPolicy VolumeBindingMode AllowVolumeExpansion Age", func(sc *storagev1.StorageClass, now time.Time) []any {
	name, reclaim, binding := sc.Name, "Delete", "<unset>"
	if sc.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" {
		name += " (default)"
	}
	if sc.ReclaimPolicy != nil {
		reclaim = string(*sc.ReclaimPolicy)
	}
	if sc.VolumeBindingMode != nil {
		binding = string(*sc.VolumeBindingMode)
	}
	return []any{name, sc.Provisioner, reclaim, binding, sc.AllowVolumeExpansion != nil && *sc.AllowVolumeExpansion, resource.Age(sc, now)}
})

var Claim = resource.NewPrinter("Name Status Volume Capacity Access_Modes StorageClass VolumeAttributesClass Age +VolumeMode", func(pvc *corev1.PersistentVolumeClaim, now time.Time) []any {
	capacity, modes := "", ""
	if pvc.Spec.VolumeName != "" {
		size := pvc.Status.Capacity[corev1.ResourceStorage]
		capacity, modes = size.String(), accessModes(pvc.Status.AccessModes)
	}
	class := ""
	if pvc.Spec.StorageClassName != nil {
		class = *pvc.Spec.StorageClassName
	}
	return []any{pvc.Name, phaseOf(pvc, string(pvc.Status.Phase)), pvc.Spec.VolumeName, capacity, modes, class, orUnset(pvc.Spec.VolumeAttributesClassName), resource.Age(pvc, now), volumeMode(pvc.Spec.VolumeMode)}
})

var Volume = resource.NewPrinter("Name Capacity Access_Modes Reclaim_Policy Status Claim StorageClass VolumeAttributesClass Reason Age +VolumeMode", func(pv *corev1.PersistentVolume, now time.Time) []any {
	claim := ""
	if ref := pv.Spec.ClaimRef; ref != nil {
		claim = fmt.Sprintf("%s/%s", ref.Namespace, ref.Name)
	}
	size := pv.Spec.Capacity[corev1.ResourceStorage]
	return []any{pv.Name, size.String(), accessModes(pv.Spec.AccessModes), string(pv.Spec.PersistentVolumeReclaimPolicy),
		phaseOf(pv, string(pv.Status.Phase)), claim, pv.Spec.StorageClassName, orUnset(pv.Spec.VolumeAttributesClassName), pv.Status.Reason, resource.Age(pv, now), volumeMode(pv.Spec.VolumeMode)}
})

// phaseOf returns the phase of a claim or volume, unless it is being deleted.
func phaseOf(obj metav1.Object, phase string) string {
	if obj.GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	return phase
}

func orUnset(class *string) string {
	if class == nil {
		return "<unset>"
	}
	return *class
}

func volumeMode(mode *corev1.PersistentVolumeMode) string {
	if mode == nil {
		return "<unset>"
	}
	return string(*mode)
}

// accessModes returns the abbreviated access modes: RWO,ROX,RWX,RWOP.
func accessModes(modes []corev1.PersistentVolumeAccessMode) string {
	short := map[corev1.PersistentVolumeAccessMode]string{corev1.ReadWriteOnce: "RWO", corev1.ReadOnlyMany: "ROX",
		corev1.ReadWriteMany: "RWX", corev1.ReadWriteOncePod: "RWOP"}
	var texts []string
	for _, m := range modes {
		if text := short[m]; !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ",")
}
