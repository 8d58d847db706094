package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/agent"
	"windtunnel.dev/sim/backend/pool"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/driver/incluster"
)

// The ports of the controller's pod, as in the manifests of deploy.
const (
	httpPort   = 80
	httpsPort  = 443
	healthPort = 10254
)

// tokenName is the name of the Secret with the token of the agents, and of its key.
const tokenName = "token"

// forkProgram begins the arguments of other controllers than the bundled one, as in the manifests of
// ingress-nginx: its image names the program in CMD, which arguments replace. An image whose ENTRYPOINT
// names the program ignores it.
const forkProgram = "/nginx-ingress-controller"

// write writes objects with the labels of the run.
func (i *instance) write(ctx context.Context, objects ...runtime.Object) error {
	client, err := cluster.New(cluster.FinishWrites(i.driver.API, cluster.WriteGrace))
	if err != nil {
		return err
	}
	client = client.Labelled(i.home.labels())
	for _, typed := range objects {
		object, err := cluster.Object(typed)
		if err != nil {
			return err
		}
		if _, err := client.Put(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// install writes the objects of the controller.
func (i *instance) install(ctx context.Context) error {
	objects, err := i.controllerObjects()
	if err != nil {
		return err
	}
	return i.write(ctx, append([]runtime.Object{i.secret()}, objects...)...)
}

func (i *instance) secret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: i.home.name(), Name: tokenName}, StringData: map[string]string{tokenName: i.token}}
}

// controllerObjects returns the objects of deploy for a controller of the run's namespaces.
func (i *instance) controllerObjects() ([]runtime.Object, error) {
	bundled := i.isBundled()
	flags := map[string]string{
		"ingress-class":              i.names.class(corpus.IngressClass),
		"controller-class":           i.names.controller(corpus.ControllerName),
		"profiling":                  "false",
		"shutdown-grace-period":      "0",
		"post-shutdown-grace-period": "0",
	}
	own := i.names.values(i.subject.Flags)
	i.watchOnly(flags, own)
	c := incluster.Controller{
		Namespace: i.home.name(), Image: i.driver.ImageOf(i.subject), Bundled: bundled, Pull: corev1.PullIfNotPresent, Flags: flags, Scenario: own,
		Config: i.names.values(i.subject.Config), Resources: i.subject.Resources, Streams: i.names.references(i.options.Streams),
	}
	if !bundled {
		c.Cmd = []string{forkProgram}
	}
	objects, err := c.Objects()
	if err != nil {
		return nil, err
	}
	var all []runtime.Object
	for _, object := range objects {
		if i.adapt(object) {
			all = append(append(all, object), i.elsewhere(object)...)
		}
	}
	return all, nil
}

// adapt changes an object for a cluster that others use. It returns false if the run has the object
// already: its namespace, and the IngressClass of the scenario.
func (i *instance) adapt(object runtime.Object) bool {
	switch o := object.(type) {
	case *corev1.Namespace, *networkingv1.IngressClass:
		return false
	case *corev1.Service:
		o.Spec.Type, o.Spec.ExternalTrafficPolicy = corev1.ServiceTypeClusterIP, "" // no load balancer, which may cost something
	case *rbacv1.ClusterRole:
		o.Name = i.home.name()
		o.Rules = i.clusterWide(o.Rules)
	case *rbacv1.ClusterRoleBinding:
		o.Name, o.RoleRef.Name = i.home.name(), i.home.name()
	case *rbacv1.Role:
		o.Rules = append(o.Rules, i.atHome()...)
	case *appsv1.Deployment:
		if !i.isBundled() {
			loosen(&o.Spec.Template.Spec.Containers[0])
		}
		i.addObserver(&o.Spec.Template.Spec)
		if i.entrypoint != nil {
			addLauncher(&o.Spec.Template.Spec, i.entrypoint, i.agentContainer(launcherName, "50m", "64Mi"))
		}
	}
	return true
}

// loosen lets the container of another controller than the bundled one write the files of its image, and
// use the capability to bind low ports: programs that have it do not start where it is dropped.
func loosen(container *corev1.Container) {
	container.SecurityContext.ReadOnlyRootFilesystem = new(false)
	container.SecurityContext.Capabilities.Add = []corev1.Capability{"NET_BIND_SERVICE"}
}

// addObserver adds an agent that sees the processes of the controller, as the same user.
func (i *instance) addObserver(pod *corev1.PodSpec) {
	pod.ShareProcessNamespace = new(true)
	pod.TerminationGracePeriodSeconds = new(int64(1)) // the run is over then
	pod.Containers = append(pod.Containers, i.agentContainer("observer", "50m", "64Mi"))
}

// agentContainer returns a container that runs an agent.
func (i *instance) agentContainer(name, cpu, memory string) corev1.Container {
	return corev1.Container{
		Name: name, Image: i.driver.Harness, ImagePullPolicy: corev1.PullIfNotPresent,
		Args: []string{"agent", "--listen=0.0.0.0:" + strconv.Itoa(agent.Port)},
		Env: []corev1.EnvVar{{Name: agent.TokenVariable, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: tokenName}, Key: tokenName,
		}}}},
		Ports: []corev1.ContainerPort{{Name: "agent", ContainerPort: agent.Port}},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
		}},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}

// poolName is the name of the pool of pods that act as the simulated pods.
const poolName = "pool"

// openPool creates the pool of real pods.
func (i *instance) openPool(ctx context.Context) error {
	shape := pool.Spec{Namespace: i.home.name(), Name: poolName, Image: i.driver.Harness, Replicas: int32(i.pool), Token: i.token}
	if err := i.write(ctx, shape.Objects()...); err != nil {
		return err
	}
	if err := pool.Await(ctx, i.driver.client, i.home.name(), poolName, shape.Replicas); err != nil {
		if why := i.stuck(ctx, pool.PoolLabel+"="+poolName); why != "" {
			err = fmt.Errorf("%w: %s", err, why)
		}
		return err
	}
	fleet, err := pool.Open(ctx, pool.Options{
		Config: i.driver.API, Namespace: i.home.name(), Name: poolName, Token: shape.Token,
		Log: i.options.Log, Subject: i.subject.Name,
	})
	if err != nil {
		return err // i.pods stays nil: an interface that holds a nil *pool.Fleet is not nil
	}
	i.pods = fleet
	return nil
}

// stuck returns why a pod with a label does not run; "" if that is not known.
func (i *instance) stuck(ctx context.Context, selector string) string {
	pods, err := i.driver.client.CoreV1().Pods(i.home.name()).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return ""
	}
	for _, pod := range pods.Items {
		if why := whyNotRunning(pod); why != "" {
			return "pod " + pod.Name + ": " + why
		}
	}
	return ""
}

// whyNotRunning returns why a pod does not run or no longer runs; "" if it does, or may soon.
func whyNotRunning(pod corev1.Pod) string {
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return strings.TrimSpace(fmt.Sprintf("it has ended (%s) %s %s", pod.Status.Phase, pod.Status.Reason, pod.Status.Message))
	}
	if pod.DeletionTimestamp != nil {
		return "it is being deleted"
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return "it is not scheduled: " + condition.Message
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if waits := status.State.Waiting; waits != nil && slices.Contains(hopeless, waits.Reason) {
			return waits.Reason + ": " + waits.Message
		}
		if ended := status.State.Terminated; ended != nil {
			return fmt.Sprintf("its container %s ended with %s", status.Name, incluster.Ending(*ended))
		}
	}
	return ""
}

// hopeless are the waiting reasons of containers that will probably never start.
var hopeless = []string{"ErrImageNeverPull", "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
