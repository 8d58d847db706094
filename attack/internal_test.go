package attack_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/attack"
	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
)

// Two namespaces share a host. One uses authentication, mirrors and error pages, which need
// internal locations. The other knows the structure of nginx.conf and claims paths with the names
// of these locations, to make nginx reject the configuration or to take the locations over.
func TestInternalLocationsAreNotSquatted(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	tries, landed := attack.Times(25, 10000), 0
	for i := range tries {
		victim := protected(random)
		before := locationLines(t, victim)
		squatter := claiming(random, slices.Sorted(maps.Keys(before)))
		after := locationLines(t, victim, squatter)
		for line, times := range after {
			if times > 1 && !strings.HasPrefix(line, "location ~") { // nginx accepts equal patterns and uses the first
				landed++
				t.Errorf("try %d of seed %d: %s exists %d times", i, seed, line, times)
			}
		}
		for line := range before {
			if internalName.MatchString(line) && after[line] == 0 {
				landed++
				t.Errorf("try %d of seed %d: %s is missing", i, seed, line)
			}
		}
	}
	attack.Report(t, attack.Row{
		Target: "internal locations", Attack: "another ingress with paths named like them", Tried: tries, Landed: landed,
		Success: "a duplicate location, which nginx rejects, or a missing location of the victim",
	})
}

// internalName matches the line of an internal location.
var internalName = regexp.MustCompile(`^location (@|= "/?_)`)

// protected returns an ingress with a few paths and annotations that create internal locations.
func protected(random *rand.Rand) *networkingv1.Ingress {
	all := map[string]string{
		"auth-url": "http://auth.victim.svc/check", "auth-signin": "https://login.example/", "mirror-target": "http://copy.example$request_uri",
		"custom-http-errors": "404,503", "use-regex": "true", "auth-keepalive": "4",
	}
	ingress := newIngress("victim", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", 0)
	for name, value := range all {
		if random.IntN(3) > 0 {
			ingress.Annotations[annotations.DefaultPrefix+"/"+name] = value
		}
	}
	for _, path := range []string{"/", "/app", "/a.b(c)", "/%7E", "/" + strings.Repeat("long", 200)} {
		if random.IntN(2) == 0 {
			addPath(ingress, path, random)
		}
	}
	addPath(ingress, "/always", random)
	return ingress
}

// claiming returns a younger ingress with paths made from the names of internal locations, to find
// mistakes in escaping or normalizing paths.
func claiming(random *rand.Rand, locations []string) *networkingv1.Ingress {
	ingress := newIngress("squatter", "6ba7b811-9dad-11d1-80b4-00c04fd430c8", 1)
	if random.IntN(4) == 0 {
		ingress.Annotations[annotations.DefaultPrefix+"/use-regex"] = "true"
	}
	for _, line := range locations {
		if !internalName.MatchString(line) {
			continue
		}
		name := strings.Trim(strings.TrimPrefix(line, "location "), `= "`)
		around := []string{"/" + name, name, "/" + name + "/", "//" + name, "/./" + name, "/%5f" + strings.TrimPrefix(name, "_"), `/" ` + name, "/{" + name, "^/" + name, "/\\" + name}
		addPath(ingress, around[random.IntN(len(around))], random)
	}
	return ingress
}

func newIngress(namespace, uid string, age int64) *networkingv1.Ingress {
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", UID: types.UID(uid), Annotations: map[string]string{}, CreationTimestamp: metav1.Unix(age, 0)},
		Spec:       networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: "shared.example", IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{}}}}},
	}
}

func addPath(ingress *networkingv1.Ingress, path string, random *rand.Rand) {
	kinds := []networkingv1.PathType{networkingv1.PathTypeExact, networkingv1.PathTypePrefix, networkingv1.PathTypeImplementationSpecific}
	http := ingress.Spec.Rules[0].HTTP
	http.Paths = append(http.Paths, networkingv1.HTTPIngressPath{
		Path: path, PathType: &kinds[random.IntN(len(kinds))],
		Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}},
	})
}

// locationLines counts the location lines of the shared host's server.
func locationLines(t *testing.T, ingresses ...*networkingv1.Ingress) map[string]int {
	t.Helper()
	opts := options.Options{Config: options.Defaults(2, false), Ports: options.DefaultPorts, DynamicConfiguration: true}
	opts.Config.UseHTTP2 = false // for auth-keepalive
	built, _ := model.Build(snapshot.Take(&population{ingresses: ingresses}), opts)
	conf, err := render.Render(built, render.Input{Options: opts})
	if err != nil {
		t.Fatal(err)
	}
	_, server, ok := strings.Cut(string(conf), "## start server shared.example\n")
	if !ok {
		t.Fatal("nginx.conf does not contain the host")
	}
	server, _, _ = strings.Cut(server, "## end server")
	lines := make(map[string]int)
	for line := range strings.Lines(server) {
		if line = strings.TrimSuffix(strings.TrimSpace(line), " {"); strings.HasPrefix(line, "location ") {
			lines[line]++
		}
	}
	if len(lines) == 0 {
		t.Fatal(fmt.Errorf("no locations in\n%s", server))
	}
	return lines
}
