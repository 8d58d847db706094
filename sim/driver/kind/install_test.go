package kind

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"windtunnel.dev/deploy"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/kindcluster"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// The installed objects are those of deploy, adapted to a run.
func TestInstalled(t *testing.T) {
	objects, err := deploy.Build("controller", nil)
	if err != nil {
		t.Fatal(err)
	}
	i := &instance{
		image:   kindcluster.Image{Name: "some/image:1", Cmd: []string{"/of/the/image"}},
		options: driver.Options{Streams: []string{"demo/a:9000", "demo/b:9000"}},
		subject: subject.Subject{
			Controller: subject.Bundled,
			Flags:      map[string]string{"http-port": "12345"},
			Config:     map[string]string{"worker-processes": "2"},
			Resources:  scenario.Resources{CPU: scenario.Quantity{Quantity: resource.MustParse("50m")}},
		},
	}
	seen := 0
	for _, object := range objects {
		wanted := i.adapt(object)
		switch o := object.(type) {
		case *corev1.ConfigMap:
			seen++
			if o.Data["worker-processes"] != "2" {
				t.Errorf("the ConfigMap has %v", o.Data)
			}
		case *appsv1.Deployment:
			seen++
			checkPod(t, o.Spec.Template.Spec)
			if *o.Spec.Replicas != 1 {
				t.Errorf("%d controllers", *o.Spec.Replicas)
			}
		}
		if kind := object.GetObjectKind().GroupVersionKind().Kind; wanted == (kind == "PodDisruptionBudget") {
			t.Errorf("%s is wanted: %t", kind, wanted)
		}
	}
	if seen != 2 {
		t.Errorf("%d objects are the ConfigMap or the Deployment, want 2", seen)
	}
	if ports := i.streamPorts(); ports["11000"] != "demo/a:9000" || ports["11001"] != "demo/b:9000" {
		t.Errorf("the ports of TCP and UDP are %v", ports)
	}
}

func checkPod(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	container := pod.Containers[0]
	if !pod.HostNetwork || container.Image != "some/image:1" || container.ImagePullPolicy != corev1.PullNever {
		t.Errorf("the pod is %+v", pod)
	}
	// Of two equal flags, pflag uses the last.
	first, last := slices.Index(container.Args, "--shutdown-grace-period=10"), slices.Index(container.Args, "--shutdown-grace-period=0")
	if first < 0 || last < first {
		t.Errorf("the driver's flags are not after the manifest's: %v", container.Args)
	}
	if container.Args[0] != "/of/the/image" || slices.Contains(container.Args, "--log-format=json") {
		t.Errorf("an image that is not the bundled controller's runs with %v", container.Args)
	}
	if slices.Contains(container.Args, "--http-port=10080") || !slices.Contains(container.Args, "--http-port=12345") {
		t.Errorf("the scenario's flags do not take precedence: %v", container.Args)
	}
	for what, cpu := range map[string]resource.Quantity{"limit": container.Resources.Limits[corev1.ResourceCPU], "request": container.Resources.Requests[corev1.ResourceCPU]} {
		if cpu.String() != "50m" {
			t.Errorf("the %s of CPU is %s", what, &cpu)
		}
	}
	if _, limited := container.Resources.Limits[corev1.ResourceMemory]; limited {
		t.Error("memory is limited")
	}
}
