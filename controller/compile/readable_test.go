package compile_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/internal/nginxtest"
)

// scraps are parts of random values: some that nginx accepts, and some that it rejects.
var scraps = strings.Fields(`$ $x ${ ${host} ${x} $1 $host $request_uri $http_a ~ ~* ( ) (?<n>a) (?<host>b) (?=c) [ [a-z] ] { } {2} {2,1} * + ? ++ | \ \d \x{100} \Q \1 ^
	/ /a . .. , , : - _ = & 0 1 2 -1 499 404 99999999999999999999 8k 4b 1m 2g off on default close basic http:// https://a.example http://127.0.0.1:81/ auth.example
	10.0.0.0/8 ::1 127.0.0.1 a b.example *.c.example d.* GET 200 5m error timeout http_502 true false GRPC FCGI AUTO_HTTP cookie any all`)

// accepted are values for each annotation that parsing accepts without a problem.
var accepted = sync.OnceValue(func() map[string][]string {
	random := rand.New(rand.NewPCG(1, 2))
	values := make(map[string][]string)
	for _, family := range annotations.Families() {
		for _, key := range family.Keys {
			if strings.HasSuffix(key.Name, "-snippet") {
				continue // a snippet, whose author can break nginx.conf
			}
			for range 150 {
				if value := scribble(random); len(said(key.Name, value)) == 0 && !slices.Contains(values[key.Name], value) {
					values[key.Name] = append(values[key.Name], value)
				}
			}
		}
	}
	// A family's other annotations take effect only with the annotations that turn it on.
	values["auth-url"] = append(values["auth-url"], "http://127.0.0.1/$request_uri", "http://no.such.host.invalid/x", "https://$x/")
	values["mirror-target"] = append(values["mirror-target"], "http://no.such.host.invalid$request_uri", "https://a.example/$x")
	return values
})

// enabling are the annotations that the other annotations of their family need.
var enabling = map[string]string{
	"auth-url": "http://127.0.0.1/", "auth-type": "basic", "auth-secret": "a", "enable-cors": "true", "limit-rps": "1",
	"mirror-target": "http://127.0.0.1/", "temporal-redirect": "http://a.example", "affinity": "cookie",
}

// plainOptions are computed only once, because the tests parse thousands of values.
var plainOptions = sync.OnceValue(func() options.Options { return parse(flags{}, nil).Options })

// said returns the problems that parsing reports for a value.
func said(name, value string) []string {
	given := make(map[string]string)
	for key, with := range enabling {
		given[annotations.DefaultPrefix+"/"+key] = with
	}
	given[annotations.DefaultPrefix+"/"+name] = value
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web", Annotations: given}}
	set, findings, err := annotations.Parse(ingress, plainOptions())
	var against []string
	if err != nil {
		against = append(against, err.Error())
	}
	for _, finding := range findings {
		against = append(against, finding.Reason)
	}
	if set.Denied != nil {
		against = append(against, *set.Denied)
	}
	return against
}

func scribble(random *rand.Rand) string {
	var text strings.Builder
	for range 1 + random.IntN(4) {
		text.WriteString(scraps[random.IntN(len(scraps))])
		if random.IntN(6) == 0 {
			text.WriteByte(' ')
		}
	}
	return text.String()
}

// anyCluster returns a cluster of n ingresses with arbitrary paths and valid annotations.
func anyCluster(random *rand.Rand, n int) population {
	p := populate(n)
	values := accepted()
	for i, ingress := range p.ingresses {
		ingress.UID = types.UID(fmt.Sprintf("uid-%d", i))
		ingress.Annotations = make(map[string]string)
		for _, family := range annotations.Families() {
			if random.IntN(3) > 0 {
				continue
			}
			for _, key := range family.Keys {
				choice := values[key.Name]
				needs := key.Want.Text == annotations.Object.Text || key.Want.Text == annotations.Whole.Text // refers to an object that does not exist
				if len(choice) > 0 && !needs && (enabling[key.Name] != "" || random.IntN(3) > 0) {
					ingress.Annotations[annotations.DefaultPrefix+"/"+key.Name] = choice[random.IntN(len(choice))]
				}
			}
		}
		for r := range ingress.Spec.Rules {
			for j := range ingress.Spec.Rules[r].HTTP.Paths {
				path := &ingress.Spec.Rules[r].HTTP.Paths[j]
				path.Path = "/" + scribble(random)
				if random.IntN(4) == 0 {
					path.PathType = new(networkingv1.PathTypeExact)
				}
			}
		}
	}
	return p
}

// nginx accepts the configuration for any paths and any accepted annotations.
func tryCluster(t *testing.T, seed uint64) {
	nginxtest.Find(t) // before the values, which take seconds to find
	random := rand.New(rand.NewPCG(seed, 0))
	config := map[string]string{}
	if random.IntN(2) == 0 {
		config["use-http2"] = "false"
	}
	opts := parse(flags{}, config).Options
	opts.Stream = options.NoStream
	testConf(t, anyCluster(random, 40), opts)
}

func TestNginxAcceptsArbitraryAnnotations(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { tryCluster(t, seed) })
	}
}

func FuzzNginxAcceptsArbitraryAnnotations(f *testing.F) {
	f.Add(uint64(100))
	f.Fuzz(tryCluster)
}
