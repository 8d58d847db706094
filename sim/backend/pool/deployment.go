package pool

import (
	"context"
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// PoolLabel is the label of a pool's pods; its value is the name of the Deployment.
const PoolLabel = "windtunnel.dev/pool"

// TokenVariable is the environment variable that has the token, in a pool's processes.
const TokenVariable = "WINDTUNNEL_CONTROL_TOKEN"

// Spec describes a pool.
type Spec struct {
	Namespace string
	Name      string
	Image     string // has windtunnel as its entrypoint
	Replicas  int32
	Token     string
	Drain     time.Duration // of a real pod when it is asked to end
}

// Objects returns a Secret with the token, and the Deployment, whose pods comply with the Pod
// Security Standard "restricted".
func (s Spec) Objects() []runtime.Object {
	about := metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, Labels: map[string]string{PoolLabel: s.Name}}
	return []runtime.Object{
		&corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: about,
			StringData: map[string]string{"token": s.Token},
		},
		&appsv1.Deployment{
			TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
			ObjectMeta: about,
			Spec: appsv1.DeploymentSpec{
				Replicas: &s.Replicas,
				Selector: &metav1.LabelSelector{MatchLabels: about.Labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: about.Labels}, Spec: s.pod()},
			},
		},
	}
}

func (s Spec) pod() corev1.PodSpec {
	probe := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("control")}}
	return corev1.PodSpec{
		AutomountServiceAccountToken:  new(false),
		EnableServiceLinks:            new(false), // a large population would fill the environment
		TerminationGracePeriodSeconds: new(int64(s.Drain.Seconds()) + 10),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   new(true),
			RunAsUser:      new(int64(65532)),
			RunAsGroup:     new(int64(65532)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name:            "backend",
			Image:           s.Image,
			ImagePullPolicy: corev1.PullIfNotPresent,
			Args:            []string{"backend", "--control=0.0.0.0:" + strconv.Itoa(ControlPort), "--drain=" + s.Drain.String()},
			Env: []corev1.EnvVar{{Name: TokenVariable, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: s.Name}, Key: "token",
			}}}},
			Ports: []corev1.ContainerPort{
				{Name: "http", ContainerPort: Port},
				{Name: "tcp", ContainerPort: StreamPort},
				{Name: "udp", ContainerPort: StreamPort, Protocol: corev1.ProtocolUDP},
				{Name: "control", ContainerPort: ControlPort},
			},
			ReadinessProbe: &corev1.Probe{ProbeHandler: probe, PeriodSeconds: 2},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("5m"), corev1.ResourceMemory: resource.MustParse("16Mi"),
			}},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false),
				ReadOnlyRootFilesystem:   new(true),
				Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}
}

// patience is how long a pool may take to become ready. A busy node starts a pod in about two seconds, one
// after the other.
func patience(pods int32) time.Duration { return 3*time.Minute + time.Duration(pods)*2*time.Second }

// Await returns when all pods of a pool are available. If ctx ends before, or after minutes that depend on
// their number, the error says how many are.
func Await(ctx context.Context, client kubernetes.Interface, namespace, name string, pods int32) error {
	limit := patience(pods)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("timed out after %v", limit))
	defer cancel()
	var last *appsv1.Deployment
	err := wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		deployment, err := client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		last = deployment
		return last.Status.ObservedGeneration >= last.Generation && last.Status.AvailableReplicas >= *last.Spec.Replicas, nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("waiting for the pool %s/%s: %d of %d pods are available: %w; see kubectl -n %s describe pods", namespace, name, last.Status.AvailableReplicas, *last.Spec.Replicas, err, namespace)
	}
	if err != nil {
		return fmt.Errorf("waiting for the pool %s/%s: %w", namespace, name, err)
	}
	return nil
}
