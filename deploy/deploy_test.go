package deploy_test

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	"windtunnel.dev/deploy"
	"windtunnel.dev/internal/pki"
	"windtunnel.dev/sim/kubeapi"
)

var pair = pki.New("ingress-nginx-admission").Issue("ingress-nginx-admission", []string{"ingress-nginx-admission.ingress-nginx.svc"})

// withAdmission is an overlay that adds the webhook.
var withAdmission = map[string]string{
	"admission/tls.crt":          string(pair.Certificate),
	"admission/tls.key":          string(pair.Key),
	"cluster/kustomization.yaml": "resources: [../controller]\ncomponents: [../admission]\n",
}

// each runs a test on the installed objects, with and without the webhook.
func each(t *testing.T, test func(t *testing.T, objects []runtime.Object)) {
	for folder, over := range map[string]map[string]string{".": nil, "cluster": withAdmission} {
		t.Run(folder, func(t *testing.T) {
			objects, err := deploy.Build(folder, over)
			if err != nil {
				t.Fatal(err)
			}
			test(t, objects)
		})
	}
}

func all[T runtime.Object](objects []runtime.Object) (found []T) {
	for _, object := range objects {
		if one, ok := object.(T); ok {
			found = append(found, one)
		}
	}
	return found
}

func pod(t *testing.T, objects []runtime.Object) corev1.PodTemplateSpec {
	t.Helper()
	deployments := all[*appsv1.Deployment](objects)
	if len(deployments) != 1 {
		t.Fatalf("got %d Deployments, want 1", len(deployments))
	}
	return deployments[0].Spec.Template
}

func TestServerAcceptsManifests(t *testing.T) {
	each(t, func(t *testing.T, objects []runtime.Object) {
		api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		defer api.Close(context.Background())
		for _, object := range objects {
			if _, err := api.Writer().Create(object); err != nil {
				t.Errorf("%T: %v", object, err)
			}
		}
	})
}

func TestObjectsAreInOneNamespace(t *testing.T) {
	each(t, func(t *testing.T, objects []runtime.Object) {
		global := []string{"Namespace", "ClusterRole", "ClusterRoleBinding", "IngressClass", "ValidatingWebhookConfiguration"}
		for _, object := range objects {
			about, err := meta.Accessor(object)
			if err != nil {
				t.Fatal(err)
			}
			kind, want := object.GetObjectKind().GroupVersionKind().Kind, "ingress-nginx"
			if slices.Contains(global, kind) {
				want = ""
			}
			if about.GetNamespace() != want {
				t.Errorf("%s %s is in the namespace %q, want %q", kind, about.GetName(), about.GetNamespace(), want)
			}
		}
	})
}

// The tests of the commands check what the roles allow; this test checks that the pods have them.
func TestRolesAreBoundToTheServiceAccount(t *testing.T) {
	each(t, func(t *testing.T, objects []runtime.Object) {
		want := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "ingress-nginx", Name: pod(t, objects).Spec.ServiceAccountName}}
		check := func(kind string, subjects []rbacv1.Subject, to rbacv1.RoleRef, role string) {
			if !slices.Equal(subjects, want) {
				t.Errorf("the %s has the subjects %+v, want %+v", kind, subjects, want)
			}
			if to.Name != role {
				t.Errorf("the %s refers to %s, want %s", kind, to.Name, role)
			}
		}
		check("ClusterRoleBinding", all[*rbacv1.ClusterRoleBinding](objects)[0].Subjects, all[*rbacv1.ClusterRoleBinding](objects)[0].RoleRef, all[*rbacv1.ClusterRole](objects)[0].Name)
		check("RoleBinding", all[*rbacv1.RoleBinding](objects)[0].Subjects, all[*rbacv1.RoleBinding](objects)[0].RoleRef, all[*rbacv1.Role](objects)[0].Name)
	})
}

// TestPodsMeetTheRestrictedStandard checks the rules of the Pod Security Standard restricted, which
// the namespace enforces, and that the root file system is read-only.
func TestPodsMeetTheRestrictedStandard(t *testing.T) {
	each(t, func(t *testing.T, objects []runtime.Object) {
		spec := pod(t, objects).Spec
		if sysctls := spec.SecurityContext.Sysctls; len(sysctls) != 1 || sysctls[0].Name != "net.ipv4.ip_unprivileged_port_start" {
			t.Errorf("sysctls %v violate the standard", sysctls)
		}
		mustBeRestricted(t, spec)
	})
}

func mustBeRestricted(t *testing.T, spec corev1.PodSpec) {
	t.Helper()
	for _, rule := range unrestricted(spec) {
		t.Errorf("%s violates the standard", rule)
	}
}

// unrestricted returns the rules that a pod violates.
func unrestricted(spec corev1.PodSpec) (broken []string) {
	rule := func(name string, kept bool) {
		if !kept {
			broken = append(broken, name)
		}
	}
	own := spec.SecurityContext
	rule("runAsNonRoot", *own.RunAsNonRoot && *own.RunAsUser != 0)
	rule("seccomp", own.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault)
	rule("host namespaces", !spec.HostNetwork && !spec.HostPID && !spec.HostIPC)
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		is := ptr.Deref(c.SecurityContext, corev1.SecurityContext{})
		rule(c.Name+": privileged", !ptr.Deref(is.Privileged, false))
		rule(c.Name+": runAsNonRoot", ptr.Deref(is.RunAsNonRoot, true) && ptr.Deref(is.RunAsUser, 1) != 0)
		rule(c.Name+": seccomp", is.SeccompProfile == nil || is.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault)
		rule(c.Name+": allowPrivilegeEscalation", !ptr.Deref(is.AllowPrivilegeEscalation, true))
		rule(c.Name+": readOnlyRootFilesystem", ptr.Deref(is.ReadOnlyRootFilesystem, false))
		caps := ptr.Deref(is.Capabilities, corev1.Capabilities{})
		rule(c.Name+": capabilities", slices.Equal(caps.Drop, []corev1.Capability{"ALL"}) && len(caps.Add) == 0)
	}
	for _, volume := range spec.Volumes {
		rule("volume "+volume.Name, volume.EmptyDir != nil || volume.Secret != nil)
	}
	return broken
}

// The rules apply to every container, not only to the first.
func TestEveryContainerIsChecked(t *testing.T) {
	objects, err := deploy.Build(".", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, add := range map[string]func(*corev1.PodSpec, corev1.Container){
		"second": func(s *corev1.PodSpec, c corev1.Container) { s.Containers = append(s.Containers, c) },
		"init":   func(s *corev1.PodSpec, c corev1.Container) { s.InitContainers = append(s.InitContainers, c) },
	} {
		template := pod(t, objects)
		spec := template.Spec.DeepCopy()
		add(spec, corev1.Container{Name: name, SecurityContext: &corev1.SecurityContext{Privileged: new(true), RunAsUser: new(int64(0))}})
		want := []string{name + ": privileged", name + ": runAsNonRoot", name + ": allowPrivilegeEscalation", name + ": readOnlyRootFilesystem", name + ": capabilities"}
		if got := unrestricted(*spec); !slices.Equal(got, want) {
			t.Errorf("violated rules %q, want %q", got, want)
		}
	}
}

func TestServicesReachThePods(t *testing.T) {
	each(t, func(t *testing.T, objects []runtime.Object) {
		template := pod(t, objects)
		for _, service := range all[*corev1.Service](objects) {
			if selector := labels.SelectorFromSet(service.Spec.Selector); selector.Empty() || !selector.Matches(labels.Set(template.Labels)) {
				t.Errorf("service %s selects %s, but the pods have the labels %v", service.Name, selector, template.Labels)
			}
			for _, port := range service.Spec.Ports {
				if !slices.ContainsFunc(template.Spec.Containers[0].Ports, func(p corev1.ContainerPort) bool {
					return port.TargetPort == intstr.FromString(p.Name)
				}) {
					t.Errorf("service %s has target port %s, which the pods lack", service.Name, port.TargetPort.String())
				}
			}
		}
	})
}

// A disruption budget without a selector applies to no pods.
func TestDisruptionBudgetIsForThePods(t *testing.T) {
	each(t, func(t *testing.T, objects []runtime.Object) {
		selector, err := metav1.LabelSelectorAsSelector(all[*policyv1.PodDisruptionBudget](objects)[0].Spec.Selector)
		if err != nil {
			t.Fatal(err)
		}
		if podLabels := pod(t, objects).Labels; !selector.Matches(labels.Set(podLabels)) {
			t.Errorf("the disruption budget selects %q, but the pods have the labels %v", selector, podLabels)
		}
	})
}

func TestWebhookManifestsMatch(t *testing.T) {
	objects, err := deploy.Build("cluster", withAdmission)
	if err != nil {
		t.Fatal(err)
	}
	hook := all[*admissionv1.ValidatingWebhookConfiguration](objects)[0].Webhooks[0].ClientConfig
	if !bytes.Equal(hook.CABundle, pair.Certificate) {
		t.Errorf("wrong CA bundle %q", hook.CABundle)
	}
	if name := hook.Service.Name; !slices.ContainsFunc(all[*corev1.Service](objects), func(s *corev1.Service) bool { return s.Name == name && s.Namespace == hook.Service.Namespace }) {
		t.Errorf("there is no service %s", name)
	}
	secret := all[*corev1.Secret](objects)[0]
	if !slices.ContainsFunc(pod(t, objects).Spec.Volumes, func(v corev1.Volume) bool { return v.Secret != nil && v.Secret.SecretName == secret.Name }) {
		t.Errorf("the pods do not mount %s", secret.Name)
	}
}

func TestUnknownFieldIsRejected(t *testing.T) {
	_, err := deploy.Build(".", map[string]string{"controller/ingressclass.yaml": "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: nginx}\nspec: {controler: k8s.io/ingress-nginx}\n"})
	if err == nil || !strings.Contains(err.Error(), `unknown field "spec.controler"`) {
		t.Errorf("error %v, want one that names the field", err)
	}
}

// TestBuildMatchesKubectl compares the library with kubectl, which users run.
func TestBuildMatchesKubectl(t *testing.T) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip(err)
	}
	for _, folder := range []string{".", "churn"} {
		t.Run(folder, func(t *testing.T) { mustBuildTheSame(t, kubectl, folder) })
	}
}

func mustBuildTheSame(t *testing.T, kubectl, folder string) {
	var stderr strings.Builder
	command := exec.Command(kubectl, "kustomize", folder)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	objects, err := deploy.Build(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(string(out), "\n---\n")
	if len(documents) != len(objects) {
		t.Fatalf("kubectl builds %d objects, Build %d", len(documents), len(objects))
	}
	for i, document := range documents {
		theirs, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(document), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(theirs, objects[i]); diff != "" {
			t.Errorf("- kubectl, + Build:\n%s", diff)
		}
	}
}
