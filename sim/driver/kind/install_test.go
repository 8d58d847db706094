package kind

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/incluster"
	"windtunnel.dev/sim/kindcluster"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// The installed objects are those of deploy, adapted to a run.
func TestInstalled(t *testing.T) {
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
	objects, err := i.objects()
	if err != nil {
		t.Fatal(err)
	}
	seen, ports := 0, 0
	for _, object := range objects {
		switch o := object.(type) {
		case *corev1.ConfigMap:
			switch {
			case o.Name == incluster.Name:
				seen++
				if o.Data["worker-processes"] != "2" {
					t.Errorf("the ConfigMap has %v", o.Data)
				}
			case o.Data["11000"] == "demo/a:9000" && o.Data["11001"] == "demo/b:9000":
				ports++
			}
		case *appsv1.Deployment:
			seen++
			checkPod(t, o.Spec.Template.Spec)
			if *o.Spec.Replicas != 1 {
				t.Errorf("%d controllers", *o.Spec.Replicas)
			}
		case *policyv1.PodDisruptionBudget:
			t.Error("evictions are prevented")
		}
	}
	if seen != 2 || ports != 2 {
		t.Errorf("%d objects are the ConfigMap or the Deployment, and %d the ports of TCP and UDP; want 2 and 2", seen, ports)
	}
}

// The volumes of the manifest are empty. They would hide the template and the Lua code of an image whose
// controller does not write them itself. The image says which user owns its files, and its programs may
// have capabilities that the manifest drops: they run as in a container of an engine.
func TestOtherImagesKeepTheirFiles(t *testing.T) {
	for name, labels := range map[string]map[string]string{"bundled": {engine.Bundled: "controller"}, "another": nil} {
		i := &instance{image: kindcluster.Image{Name: "some/image:1", Labels: labels}, subject: subject.Subject{Controller: subject.Bundled, Flags: map[string]string{"health-check-path": "/live"}}}
		objects, err := i.objects()
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(objects, func(o runtime.Object) bool { _, is := o.(*appsv1.Deployment); return is })
		pod := objects[at].(*appsv1.Deployment).Spec.Template.Spec
		container, bundled := pod.Containers[0], len(labels) > 0
		if hides := len(container.VolumeMounts)+len(pod.Volumes) > 0; hides != bundled {
			t.Errorf("%s: the pod has the volumes %v, mounted at %v", name, pod.Volumes, container.VolumeMounts)
		}
		if restricted := container.SecurityContext != nil; restricted != bundled {
			t.Errorf("%s: the container has the security context %+v", name, container.SecurityContext)
		}
		if given := pod.SecurityContext.RunAsUser != nil || pod.SecurityContext.RunAsNonRoot != nil; given != bundled {
			t.Errorf("%s: the pod has the security context %+v", name, pod.SecurityContext)
		}
		if slices.Contains(container.Args, "--log-format=json") != bundled {
			t.Errorf("%s: arguments %v", name, container.Args)
		}
		startup, liveness, readiness := container.StartupProbe.HTTPGet.Path, container.LivenessProbe.HTTPGet.Path, container.ReadinessProbe.HTTPGet.Path
		if asks := readiness == "/readyz"; startup != "/live" || liveness != "/live" || asks != bundled {
			t.Errorf("%s: the probes request %s, %s and %s; only the bundled controller has /readyz", name, startup, liveness, readiness)
		}
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
