package defaults

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The defaults of pods and of what makes pods.

func defaultPodSpec(spec *corev1.PodSpec) {
	setDefault(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	setDefault(&spec.DNSPolicy, corev1.DNSClusterFirst)
	setDefault(&spec.SchedulerName, corev1.DefaultSchedulerName)
	setPointer(&spec.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	setPointer(&spec.SecurityContext, corev1.PodSecurityContext{})
	for i := range spec.InitContainers {
		defaultContainer(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		defaultContainer(&spec.Containers[i])
	}
}

// pullPolicy is what an image's reference asks for: one that names no tag, or
// latest, may be another image tomorrow.
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

// ReplicationController also takes the labels of its pods for its own, and for
// what it selects, as the oldest of these kinds does.
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

func DaemonSet(ds, _ *appsv1.DaemonSet) {
	defaultPodSpec(&ds.Spec.Template.Spec)
	setPointer(&ds.Spec.RevisionHistoryLimit, 10)
	setDefault(&ds.Spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
}

func StatefulSet(ss, _ *appsv1.StatefulSet) {
	defaultPodSpec(&ss.Spec.Template.Spec)
	setPointer(&ss.Spec.Replicas, 1)
	setPointer(&ss.Spec.RevisionHistoryLimit, 10)
	setDefault(&ss.Spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	setDefault(&ss.Spec.UpdateStrategy.Type, appsv1.RollingUpdateStatefulSetStrategyType)
}

func setPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
