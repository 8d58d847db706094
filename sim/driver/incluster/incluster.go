// Package incluster makes the objects of a subject's controller in a real cluster: the objects of
// package deploy, adapted to a run. Its one rule: it knows no cluster; callers add what theirs
// needs.
package incluster

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/deploy"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// The names in the manifests of deploy.
const (
	Namespace = "ingress-nginx" // unless Controller has another
	Name      = "ingress-nginx-controller"
	Selector  = "app.kubernetes.io/name=ingress-nginx"
	Container = "controller"
	tcpPorts  = "tcp-services"
	udpPorts  = "udp-services"
)

// StreamBase is the port of the first TCP and UDP service.
const StreamBase = 11000

// Controller is a subject's controller.
type Controller struct {
	Namespace string
	Image     string
	Bundled   bool // whether the image has the bundled controller
	Pull      corev1.PullPolicy
	Cmd       []string // of the image
	// Flags are those of the driver. They override the manifest's, and the scenario's override them.
	Flags     map[string]string
	Scenario  map[string]string
	Config    map[string]string // the controller's ConfigMap
	Resources scenario.Resources
	Streams   []string // as driver.Options.Streams
}

// Objects returns the objects that `kubectl apply -k deploy/` would write, in their order, for a single
// controller. The Deployment named Name has the controller's container first.
func (c Controller) Objects() ([]runtime.Object, error) {
	objects, err := deploy.Build("run", map[string]string{
		"run/kustomization.yaml": "resources: [../controller]\nnamespace: " + c.Namespace + "\n",
	})
	if err != nil {
		return nil, err
	}
	if len(c.Streams) > 0 {
		for _, name := range []string{tcpPorts, udpPorts} {
			objects = append(objects, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name}, Data: c.streamPorts(),
			})
		}
	}
	var all []runtime.Object
	for _, object := range objects {
		switch o := object.(type) {
		case *policyv1.PodDisruptionBudget:
			continue // with a single controller it would prevent all evictions
		case *corev1.ConfigMap:
			if o.Name == Name {
				o.Data = c.Config
			}
		case *appsv1.Deployment:
			c.adapt(&o.Spec)
		}
		all = append(all, object)
	}
	return all, nil
}

// HealthPath returns the path of the health endpoint of a controller with these flags of its subject.
func HealthPath(flags map[string]string) string {
	return cmp.Or(flags["health-check-path"], "/healthz")
}

// adapt makes a Deployment that of one controller.
func (c Controller) adapt(spec *appsv1.DeploymentSpec) {
	spec.Replicas = new(int32(1))
	spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	container := &spec.Template.Spec.Containers[0]
	container.Image = c.Image
	container.ImagePullPolicy = c.Pull
	container.Args = slices.Concat(c.Cmd, container.Args, c.args())
	health := HealthPath(c.Scenario)
	container.StartupProbe.HTTPGet.Path, container.LivenessProbe.HTTPGet.Path = health, health
	if !c.Bundled {
		keepFiles(&spec.Template.Spec)
		container.ReadinessProbe.HTTPGet.Path = health // only the bundled controller has /readyz
	}
	setLimit(&container.Resources, corev1.ResourceCPU, c.Resources.CPU.Quantity)
	setLimit(&container.Resources, corev1.ResourceMemory, c.Resources.Memory.Quantity)
}

// keepFiles makes a pod fit for the images of other controllers than the bundled one. They have a template
// and Lua code in folders that the bundled controller fills itself, where the manifest has empty volumes.
// Which privileges they get depends on the cluster: callers set them.
func keepFiles(pod *corev1.PodSpec) {
	pod.Volumes, pod.Containers[0].VolumeMounts = nil, nil
}

// args returns the arguments after the manifest's. Of two equal flags, the controller uses the last.
func (c Controller) args() []string {
	flags := map[string]string{}
	if c.Bundled {
		flags["log-format"] = "json"
	}
	if len(c.Streams) > 0 {
		flags["tcp-services-configmap"] = c.Namespace + "/" + tcpPorts
		flags["udp-services-configmap"] = c.Namespace + "/" + udpPorts
	}
	maps.Copy(flags, c.Flags)
	maps.Copy(flags, c.Scenario)
	return subject.Args(flags)
}

// streamPorts returns the data of the TCP and UDP ConfigMaps: the services by port.
func (c Controller) streamPorts() map[string]string {
	data := map[string]string{}
	for n, service := range c.Streams {
		data[strconv.Itoa(StreamBase+n)] = service
	}
	return data
}

// setLimit sets the limit of a resource and lowers the request to it. Zero means no limit.
func setLimit(of *corev1.ResourceRequirements, what corev1.ResourceName, to resource.Quantity) {
	if to.IsZero() {
		return
	}
	if of.Limits == nil {
		of.Limits = corev1.ResourceList{}
	}
	of.Limits[what] = to
	if request := of.Requests[what]; request.Cmp(to) > 0 {
		of.Requests[what] = to
	}
}
