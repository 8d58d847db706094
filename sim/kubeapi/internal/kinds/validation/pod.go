package validation

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	machinery "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// The pod rules that clients run into (pkg/apis/core/validation at v1.36): containers, names,
// ports, mounts and probes. The rules for volume sources, affinity, resources and security contexts
// are missing, because nothing in this cluster acts on these fields.

func Pod(pod, old *corev1.Pod, _ resource.Cluster) field.ErrorList {
	spec := field.NewPath("spec")
	if old != nil && equality.Semantic.DeepEqual(pod.Spec, old.Spec) {
		// The spec did not change, so it is still valid. Only the server decides the QoS class.
		return machinery.ValidateImmutableField(pod.Status.QOSClass, old.Status.QOSClass, field.NewPath("status", "qosClass"))
	}
	problems := validatePodSpec(&pod.Spec, spec)
	if old != nil {
		return append(problems, validatePodChange(&pod.Spec, &old.Spec, spec)...)
	}
	if len(pod.Spec.EphemeralContainers) > 0 {
		problems = append(problems, field.Forbidden(spec.Child("ephemeralContainers"), "cannot be set on create"))
	}
	if pod.Spec.NodeName != "" && len(pod.Spec.SchedulingGates) != 0 {
		problems = append(problems, field.Forbidden(spec.Child("nodeName"), "cannot be set until all schedulingGates have been cleared"))
	}
	return problems
}

// validatePodSpec validates the spec of a pod or of a workload's pod template.
func validatePodSpec(spec *corev1.PodSpec, path *field.Path) (problems field.ErrorList) {
	volumes, problems := validateVolumes(spec.Volumes, path.Child("volumes"))
	names := map[string]bool{}
	if len(spec.Containers) == 0 {
		problems = append(problems, field.Required(path.Child("containers"), ""))
	}
	for i := range spec.Containers {
		problems = append(problems, validateContainer(&spec.Containers[i], names, volumes, path.Child("containers").Index(i))...)
		problems = append(problems, validateProbes(&spec.Containers[i], path.Child("containers").Index(i))...)
	}
	for i := range spec.InitContainers {
		problems = append(problems, validateContainer(&spec.InitContainers[i], names, volumes, path.Child("initContainers").Index(i))...)
	}
	problems = append(problems, validateHostNetwork(spec, path)...)
	problems = append(problems, oneOf(path.Child("restartPolicy"), spec.RestartPolicy, corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	problems = append(problems, oneOf(path.Child("dnsPolicy"), spec.DNSPolicy, corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)...)
	problems = append(problems, metavalidation.ValidateLabels(spec.NodeSelector, path.Child("nodeSelector"))...)
	problems = append(problems, nameRule(path.Child("serviceAccountName"), spec.ServiceAccountName, machinery.ValidateServiceAccountName)...)
	problems = append(problems, nameRule(path.Child("nodeName"), spec.NodeName, machinery.NameIsDNSSubdomain)...)
	if seconds := spec.ActiveDeadlineSeconds; seconds != nil && (*seconds < 1 || *seconds > math.MaxInt32) {
		problems = append(problems, field.Invalid(path.Child("activeDeadlineSeconds"), *seconds, validation.InclusiveRangeError(1, math.MaxInt32)))
	}
	problems = append(problems, dnsLabel(path.Child("hostname"), spec.Hostname)...)
	return append(problems, dnsLabel(path.Child("subdomain"), spec.Subdomain)...)
}

// validateContainer validates one container. names and volumes are the container names and the
// volumes of the pod.
func validateContainer(c *corev1.Container, names, volumes map[string]bool, path *field.Path) (problems field.ErrorList) {
	if c.Name == "" {
		problems = append(problems, field.Required(path.Child("name"), ""))
	} else {
		problems = append(problems, dnsLabel(path.Child("name"), c.Name)...)
	}
	if c.Image == "" {
		problems = append(problems, field.Required(path.Child("image"), ""))
	}
	problems = append(problems, oneOf(path.Child("terminationMessagePolicy"), c.TerminationMessagePolicy, corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	problems = append(problems, validateContainerPorts(c.Ports, path.Child("ports"))...)
	problems = append(problems, validateEnv(c.Env, path.Child("env"))...)
	problems = append(problems, validateMounts(c.VolumeMounts, volumes, path.Child("volumeMounts"))...)
	problems = append(problems, oneOf(path.Child("imagePullPolicy"), c.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	if names[c.Name] {
		problems = append(problems, field.Duplicate(path.Child("name"), c.Name))
	}
	names[c.Name] = true
	return problems
}

func validateContainerPorts(ports []corev1.ContainerPort, path *field.Path) (problems field.ErrorList) {
	names := map[string]bool{}
	for i, port := range ports {
		at := path.Index(i)
		for _, message := range validation.IsValidPortName(port.Name) {
			if port.Name != "" {
				problems = append(problems, field.Invalid(at.Child("name"), port.Name, message))
			}
		}
		if names[port.Name] && port.Name != "" {
			problems = append(problems, field.Duplicate(at.Child("name"), port.Name))
		}
		names[port.Name] = true
		if port.ContainerPort == 0 {
			problems = append(problems, field.Required(at.Child("containerPort"), ""))
		} else {
			problems = append(problems, portNumber(at.Child("containerPort"), port.ContainerPort)...)
		}
		if port.HostPort != 0 {
			problems = append(problems, portNumber(at.Child("hostPort"), port.HostPort)...)
		}
		problems = append(problems, oneOf(at.Child("protocol"), port.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)...)
	}
	return problems
}

func validateEnv(vars []corev1.EnvVar, path *field.Path) (problems field.ErrorList) {
	for i, v := range vars {
		if v.Name == "" {
			problems = append(problems, field.Required(path.Index(i).Child("name"), ""))
			continue
		}
		for _, message := range validation.IsRelaxedEnvVarName(v.Name) {
			problems = append(problems, field.Invalid(path.Index(i).Child("name"), v.Name, message))
		}
	}
	return problems
}

func validateVolumes(volumes []corev1.Volume, path *field.Path) (names map[string]bool, problems field.ErrorList) {
	names = map[string]bool{}
	for i, v := range volumes {
		at := path.Index(i).Child("name")
		switch {
		case v.Name == "":
			problems = append(problems, field.Required(at, ""))
		case names[v.Name]:
			problems = append(problems, field.Duplicate(at, v.Name))
		default:
			problems = append(problems, dnsLabel(at, v.Name)...)
		}
		names[v.Name] = true
	}
	return names, problems
}

func validateMounts(mounts []corev1.VolumeMount, volumes map[string]bool, path *field.Path) (problems field.ErrorList) {
	places := map[string]bool{}
	for i, mount := range mounts {
		at := path.Index(i)
		if mount.Name == "" {
			problems = append(problems, field.Required(at.Child("name"), ""))
		}
		if !volumes[mount.Name] {
			problems = append(problems, field.NotFound(at.Child("name"), mount.Name))
		}
		if mount.MountPath == "" {
			problems = append(problems, field.Required(at.Child("mountPath"), ""))
		}
		if places[mount.MountPath] {
			problems = append(problems, field.Invalid(at.Child("mountPath"), mount.MountPath, "must be unique"))
		}
		places[mount.MountPath] = true
	}
	return problems
}

func validateHostNetwork(spec *corev1.PodSpec, path *field.Path) (problems field.ErrorList) {
	if !spec.HostNetwork {
		return nil
	}
	for i, c := range spec.Containers {
		for j, port := range c.Ports {
			if port.HostPort != port.ContainerPort {
				problems = append(problems, field.Invalid(path.Child("containers").Index(i).Child("ports").Index(j).Child("hostPort"),
					port.HostPort, "must match `containerPort` when `hostNetwork` is true"))
			}
		}
	}
	return problems
}
