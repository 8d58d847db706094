package cluster

import (
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"windtunnel.dev/sim/permission"
)

// rightsOf returns what a controller may, as verb resource.group@namespace, sorted. It leaves out what is
// restricted to names: its own objects.
func rightsOf(t *testing.T, namespaces ...string) (rights []string) {
	t.Helper()
	add := func(namespace string, rules []rbacv1.PolicyRule) {
		for _, rule := range rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					if len(rule.ResourceNames) == 0 {
						rights = append(rights, permission.Permission{Verb: verb, Group: rule.APIGroups[0], Resource: resource}.String()+"@"+namespace)
					}
				}
			}
		}
	}
	for _, object := range controllerObjects(t, namespaces...) {
		switch o := object.(type) {
		case *rbacv1.ClusterRole:
			add("", o.Rules)
		case *rbacv1.Role:
			add(o.Namespace, o.Rules)
		}
	}
	slices.Sort(rights)
	return rights
}

// The controller of a single namespace may see IngressClasses and, in its namespace, what it watches. That of
// several may read what it watches everywhere, and writes in the namespaces of the run only.
func TestRightsOfTheController(t *testing.T) {
	const one, a, b = "windtunnel-run-abc", "windtunnel-run-abc-a", "windtunnel-run-abc-b"
	everywhere := []string{"list ingressclasses.networking.k8s.io@", "watch ingressclasses.networking.k8s.io@"}
	home := []string{
		"get pods@" + one, "list pods@" + one, "create leases.coordination.k8s.io@" + one, // with its Deployment
		"create events@" + one, "patch events@" + one,
	}
	var watched []string
	for _, resource := range []string{"services", "secrets", "configmaps", "endpointslices.discovery.k8s.io", "ingresses.networking.k8s.io"} {
		watched = append(watched, "list "+resource+"@", "watch "+resource+"@")
	}
	in := func(namespace string, rights ...string) (all []string) {
		for _, right := range rights {
			all = append(all, right+namespace)
		}
		return all
	}
	reports := []string{"get ingresses.networking.k8s.io@", "update ingresses/status.networking.k8s.io@"}
	events := []string{"create events@", "patch events@"}
	for _, test := range []struct {
		namespaces []string
		want       []string
	}{
		{[]string{"a"}, slices.Concat(everywhere, home, in(one, watched...), in(one, reports...), in(one, "get namespaces@"))},
		{[]string{"a", "ingress-nginx"}, slices.Concat(everywhere, home, in(one, watched...), in(one, reports...), in(one, "get namespaces@"))},
		{[]string{"a", "b"}, slices.Concat(everywhere, home, watched, []string{"list namespaces@", "watch namespaces@"},
			in(a, reports...), in(a, events...), in(b, reports...), in(b, events...))},
	} {
		slices.Sort(test.want)
		if got := rightsOf(t, test.namespaces...); !slices.Equal(got, test.want) {
			t.Errorf("%q: the controller may\n%q, want\n%q", test.namespaces, got, test.want)
		}
	}
}

// The run's user has whatever the controller gets: otherwise the API server refuses its roles.
func TestControllerGetsNoMoreThanTheUserHas(t *testing.T) {
	for _, test := range []struct {
		namespaces []string
		has        []permission.Permission
	}{
		{[]string{"a"}, permissions},
		{[]string{"a", "b"}, slices.Concat(permissions, several)},
	} {
		has := map[permission.Permission]bool{}
		for _, p := range test.has {
			has[p] = true
		}
		for _, object := range controllerObjects(t, test.namespaces...) {
			var rules []rbacv1.PolicyRule
			switch o := object.(type) {
			case *rbacv1.ClusterRole:
				rules = o.Rules
			case *rbacv1.Role:
				rules = o.Rules
			}
			for _, rule := range rules {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						if what := (permission.Permission{Verb: verb, Group: rule.APIGroups[0], Resource: resource}); !has[what] {
							t.Errorf("%q: the controller may %s, which the user may not", test.namespaces, what)
						}
					}
				}
			}
		}
	}
}

// The roles in the namespaces beside the run's home are those of the controller at home.
func TestRolesBesideHomeAreTheControllers(t *testing.T) {
	bound := map[string]string{}
	for _, object := range controllerObjects(t, "a", "b") {
		if o, is := object.(*rbacv1.RoleBinding); is {
			bound[o.Namespace] = o.RoleRef.Name + " of " + o.Subjects[0].Namespace + "/" + o.Subjects[0].Name
		}
	}
	for _, namespace := range []string{"windtunnel-run-abc", "windtunnel-run-abc-a", "windtunnel-run-abc-b"} {
		if want := "ingress-nginx of windtunnel-run-abc/ingress-nginx"; bound[namespace] != want {
			t.Errorf("in %s, the binding is %q, want %q", namespace, bound[namespace], want)
		}
	}
}
