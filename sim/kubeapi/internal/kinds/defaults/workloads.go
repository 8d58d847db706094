package defaults

import (
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// Defaults of pods and workloads.

func defaultPodSpec(spec *corev1.PodSpec) {
	setDefault(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	setDefault(&spec.DNSPolicy, corev1.DNSClusterFirst)
	setDefault(&spec.SchedulerName, corev1.DefaultSchedulerName)
	setPointer(&spec.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	setPointer(&spec.SecurityContext, corev1.PodSecurityContext{})
	setDefault(&spec.ServiceAccountName, spec.DeprecatedServiceAccount)
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
	for i := range spec.InitContainers {
		defaultContainer(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		defaultContainer(&spec.Containers[i])
	}
}

// pullPolicy returns the default pull policy of an image: Always if it has no tag or the tag
// latest, because such a reference may later name another image.
func pullPolicy(image string) corev1.PullPolicy {
	_, tag, tagged := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	if pinned := strings.Contains(image, "@"); pinned || tagged && tag != "latest" {
		return corev1.PullIfNotPresent
	}
	return corev1.PullAlways
}

func defaultContainer(c *corev1.Container) {
	setDefault(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	setDefault(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	setDefault(&c.ImagePullPolicy, pullPolicy(c.Image))
	for i := range c.Ports {
		setDefault(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe != nil {
			defaultProbe(probe)
		}
	}
}

func defaultProbe(p *corev1.Probe) {
	setDefault(&p.TimeoutSeconds, 1)
	setDefault(&p.PeriodSeconds, 10)
	setDefault(&p.SuccessThreshold, 1)
	setDefault(&p.FailureThreshold, 3)
	if p.HTTPGet != nil {
		setDefault(&p.HTTPGet.Path, "/")
		setDefault(&p.HTTPGet.Scheme, corev1.URISchemeHTTP)
	}
}

func Deployment(d, _ *appsv1.Deployment) {
	defaultPodSpec(&d.Spec.Template.Spec)
	setPointer(&d.Spec.Replicas, 1)
	setPointer(&d.Spec.RevisionHistoryLimit, 10)
	setPointer(&d.Spec.ProgressDeadlineSeconds, 600)
	setDefault(&d.Spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return
	}
	setPointer(&d.Spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
	setPointer(&d.Spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	setPointer(&d.Spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
}

func ReplicaSet(rs, _ *appsv1.ReplicaSet) {
	defaultPodSpec(&rs.Spec.Template.Spec)
	setPointer(&rs.Spec.Replicas, 1)
}

// ReplicationController sets the defaults of a ReplicationController. Its labels and its selector
// default to the labels of its pod template, which newer kinds do not do.
func ReplicationController(rc, _ *corev1.ReplicationController) {
	setPointer(&rc.Spec.Replicas, 1)
	if rc.Spec.Template == nil {
		return
	}
	defaultPodSpec(&rc.Spec.Template.Spec)
	if len(rc.Spec.Selector) == 0 {
		rc.Spec.Selector = rc.Spec.Template.Labels
	}
	if len(rc.Labels) == 0 {
		rc.Labels = rc.Spec.Template.Labels
	}
}

// DaemonSet sets the defaults of a DaemonSet. One default is an annotation that counts the changes of
// the pod template: kube-apiserver keeps a field of an older version in it.
func DaemonSet(ds, old *appsv1.DaemonSet) {
	counted := "1"
	if old != nil {
		counted = old.Annotations[appsv1.DeprecatedTemplateGeneration]
	}
	if ds.Annotations == nil {
		ds.Annotations = map[string]string{}
	}
	ds.Annotations[appsv1.DeprecatedTemplateGeneration] = counted
	defaultPodSpec(&ds.Spec.Template.Spec)
	setPointer(&ds.Spec.RevisionHistoryLimit, 10)
	setDefault(&ds.Spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if ds.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		return
	}
	setPointer(&ds.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
	setPointer(&ds.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
	setPointer(&ds.Spec.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
}

// PrepareDaemonSet counts a change of the pod template.
func PrepareDaemonSet(ds, old *appsv1.DaemonSet, _ resource.Cluster) {
	if old == nil || equality.Semantic.DeepEqual(ds.Spec.Template, old.Spec.Template) {
		return
	}
	if n, err := strconv.ParseInt(old.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64); err == nil {
		ds.Annotations[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(n+1, 10)
	}
}

func StatefulSet(ss, _ *appsv1.StatefulSet) {
	spec := &ss.Spec
	defaultPodSpec(&spec.Template.Spec)
	setPointer(&spec.Replicas, 1)
	setPointer(&spec.RevisionHistoryLimit, 10)
	setDefault(&spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	setDefault(&spec.UpdateStrategy.Type, appsv1.RollingUpdateStatefulSetStrategyType)
	if spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		setPointer(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
		setPointer(&spec.UpdateStrategy.RollingUpdate.Partition, 0)
	}
	setPointer(&spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	setDefault(&spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setDefault(&spec.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	for i := range spec.VolumeClaimTemplates {
		Claim(&spec.VolumeClaimTemplates[i], nil)
	}
	ClaimTemplates(ss)
}

// ClaimTemplates sets the kind of the claim templates, which kube-apiserver shows.
func ClaimTemplates(ss *appsv1.StatefulSet) {
	for i := range ss.Spec.VolumeClaimTemplates {
		claim := &ss.Spec.VolumeClaimTemplates[i]
		claim.APIVersion, claim.Kind = "v1", "PersistentVolumeClaim"
	}
}

func setPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
