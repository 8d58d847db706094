package attack_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/attack"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/lua"
)

// judge runs nginx -t on configurations.
type judge struct {
	*nginx.Nginx
	input render.Input
}

// newJudge creates a folder with all files that this machine's nginx needs.
func newJudge(t testing.TB) judge {
	t.Helper()
	program, _ := nginxtest.Find(t)
	names := []string{"http_lua", "stream"}
	for _, name := range []string{"http_set_misc", "http_headers_more_filter"} {
		if program.Has(name) {
			names = append(names, name)
		}
	}
	_, modules := nginxtest.Find(t, names...)
	opts := flags(nginxtest.Folder(t))
	opts.Config.BindAddress = []string{"127.0.0.1"}
	for _, folder := range []string{"/tmp/nginx", "/var/log/nginx", "/etc/ingress-controller/ssl", "/etc/ingress-controller/auth", "/etc/nginx/modsecurity", "/etc/nginx/owasp-modsecurity-crs"} {
		if err := os.MkdirAll(opts.Path(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"/etc/nginx/modsecurity/modsecurity.conf", "/etc/nginx/owasp-modsecurity-crs/nginx-modsecurity.conf"} {
		if err := os.WriteFile(opts.Path(file), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := lua.Write(opts.Path("/etc/nginx/lua")); err != nil {
		t.Fatal(err)
	}
	return judge{program, render.Input{
		Options: opts, Modules: modules, ModulesPath: program.ModulesPath, Backlog: 511, FileLimit: 65536,
		Optional: program.Available(render.OptionalModules()...), HTTP2Directive: program.AtLeast("1.25.1"), StreamRealIP: program.Has("stream_realip"),
	}}
}

// rejects returns nginx's error for a cluster's configuration; nil if nginx accepts it.
func (j judge) rejects(t testing.TB, c *population) error {
	t.Helper()
	o, err := stages(c, j.input)
	if err != nil {
		return err
	}
	j.install(t, o)
	err = j.Test(t.Context(), j.input.Options.Path("/etc/nginx/nginx.conf"))
	if _, unread := tree(o.state.Conf.Bytes()); err == nil && unread != nil {
		t.Errorf("our parser rejects a configuration that nginx accepts: %v", unread)
	}
	return err
}

func (j judge) install(t testing.TB, o outcome) {
	t.Helper()
	files := maps.Clone(o.state.Files)
	files[j.input.Options.Path("/etc/nginx/nginx.conf")] = o.state.Conf.Bytes()
	files[j.input.Options.Path("/etc/nginx/lua/cfg.json")] = o.state.LuaConfig
	for file, text := range files {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// culprits returns the ingresses for which nginx rejects a cluster, with its errors.
func (j judge) culprits(t testing.TB, c *population) (found []*networkingv1.Ingress, reasons []error) {
	err := j.rejects(t, c)
	if err == nil {
		return nil, nil
	}
	if len(c.ingresses) <= 1 {
		return c.ingresses, []error{err}
	}
	for half := range slices.Chunk(c.ingresses, (len(c.ingresses)+1)/2) {
		part := *c
		part.ingresses = half
		guilty, said := j.culprits(t, &part)
		found, reasons = append(found, guilty...), append(reasons, said...)
	}
	if len(found) == 0 { // each half alone is accepted
		return c.ingresses[:1], []error{err}
	}
	return found, reasons
}

// Whatever hostile objects a cluster has, nginx accepts the configuration.
func TestNginxAcceptsHostileClusters(t *testing.T) {
	j := newJudge(t)
	row := attack.Row{Target: "nginx -t", Attack: "hostile Ingresses, ConfigMaps, Secrets and Services", Success: "nginx rejects the configuration"}
	for seed := range uint64(attack.Times(2, 60)) {
		random := rand.New(rand.NewPCG(seed, 6))
		c, objects := hostileCluster(random, 60)
		maps.DeleteFunc(c.config, func(key, _ string) bool { return key == "bind-address" || strings.HasSuffix(key, "-log-path") })
		j.input.Options.DynamicConfiguration = seed%4 > 0
		row.Tried += objects
		if guilty, reasons := j.culprits(t, c); len(guilty) > 0 {
			row.Landed++
			t.Errorf("seed %d: %v\n%s", seed, reasons[0], described(guilty[0]))
		}
	}
	attack.Report(t, row)
}

// If the controller accepts annotations, paths and names, nginx accepts them, too.
func TestNginxAcceptsAcceptedIngresses(t *testing.T) {
	const together = 50
	j := newJudge(t)
	row := attack.Row{Target: "nginx -t", Attack: "ingresses with values that are difficult for nginx", Success: "nginx rejects what the controller accepted"}
	for seed := range uint64(attack.Times(2, 100)) {
		random := rand.New(rand.NewPCG(seed, 1))
		c := ready()
		for i := range together {
			c.ingresses = append(c.ingresses, awkward(random, fmt.Sprintf("i%d", i)))
		}
		if seed%2 == 0 {
			c.config = map[string]string{"use-http2": "false"}
		}
		guilty, reasons := j.culprits(t, c)
		for i, ingress := range guilty {
			t.Errorf("seed %d: %v\n%s", seed, reasons[i], described(ingress))
		}
		row.Tried += together
		row.Landed += len(guilty)
	}
	attack.Report(t, row)
}

// If the controller accepts its ConfigMap, nginx accepts it, too.
func TestNginxAcceptsAcceptedConfigMaps(t *testing.T) {
	j := newJudge(t)
	row := attack.Row{Target: "nginx -t", Attack: "the controller's ConfigMap with values that are difficult for nginx", Success: "nginx rejects what the controller accepted"}
	random := rand.New(rand.NewPCG(7, 1))
	for range attack.Times(30, 1500) {
		c := ready()
		c.ingresses = append(c.ingresses, ingress("web", nil))
		c.config = awkwardConfig(random)
		row.Tried++
		err := j.rejects(t, c)
		if err == nil {
			continue
		}
		row.Landed++
		for key, value := range c.config { // find the key that causes the error
			part := *c
			part.config = map[string]string{key: value}
			if own := j.rejects(t, &part); own != nil {
				t.Errorf("%s: %q: %v", key, shortened(value), own)
				err = nil
			}
		}
		if err != nil {
			t.Errorf("only in combination: %q: %v", c.config, err)
		}
	}
	attack.Report(t, row)
}

func described(i *networkingv1.Ingress) string {
	var text strings.Builder
	fmt.Fprintf(&text, "  name %s host %s path %s\n", shortened(i.Name), shortened(i.Spec.Rules[0].Host), shortened(pathOf(i).Path))
	for _, name := range slices.Sorted(maps.Keys(i.Annotations)) {
		fmt.Fprintf(&text, "  %s: %q\n", name, shortened(i.Annotations[name]))
	}
	return text.String()
}

func shortened(text string) string {
	if len(text) > 300 {
		return fmt.Sprintf("%s… (%d bytes)", text[:300], len(text))
	}
	return text
}

// awkward returns an ingress with values that are difficult for nginx.
func awkward(random *rand.Rand, name string) *networkingv1.Ingress {
	given := make(map[string]string)
	for range 1 + random.IntN(3) {
		key := keys[random.IntN(len(keys))]
		maps.Copy(given, key.enabled(value(random, key.Name)))
	}
	if random.IntN(6) == 0 {
		name += strings.Repeat("-long", random.IntN(48))
	}
	i := ingress(name, given)
	if len(name) > 63 {
		i.Spec.Rules[0].Host = name[:50] + "." + name[len(name)-50:] + ".example"
	}
	if random.IntN(3) == 0 {
		pathOf(i).Path = "/" + scribble(random)
	}
	if random.IntN(4) == 0 {
		pathOf(i).PathType = new(networkingv1.PathTypeExact)
	}
	return i
}

// scraps are parts of values: tokens that have a meaning in nginx, and tokens that often cause
// errors.
var scraps = strings.Fields(`$ $x ${ ${host} ${x} $1 $host $request_uri $http_a ~ ~* ( ) (?<n>a) (?<host>b) (?=c) (?i) (?i)b (?i)* (?:a|b) a(?i)* [ [a-z] ] { } {2} {2,1} * + ? ++ | \ \d \x{100} \Q \E \1 ^ \K \N (*ANY) (?#a)
	/ /a . .. , , : - _ = & 0 1 2 -1 499 404 99999999999999999999 8k 4b 1m 2g off on default close basic http:// https://a.example http://127.0.0.1:81/ auth.example
	10.0.0.0/8 ::1 127.0.0.1 a b.example *.c.example d.* GET 200 5m error timeout http_502 true false GRPC FCGI AUTO_HTTP cookie any all HIGH HIGH:! ! :! DEFAULT CN= CN=a @STRENGTH !aNULL`)

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

// samples are valid values of keys, from which other values are made.
var samples = map[string][]string{
	"auth-url":                     {"http://auth.example/check", "https://$host/a", "http://127.0.0.1:81/a?b=$request_uri", "http://[::1]/"},
	"auth-signin":                  {"http://auth.example/in?rd=$escaped_request_uri"},
	"auth-response-headers":        {"X-User", "X-A,X-B"},
	"auth-cache-key":               {"$remote_user$http_authorization"},
	"auth-cache-duration":          {"200 202 30m, 401 1m"},
	"auth-tls-match-cn":            {"CN=a.*", "CN=(?i)b"},
	"auth-tls-error-page":          {"http://a.example/e", "@e", "/e"},
	"auth-realm":                   {"the realm"},
	"cors-allow-origin":            {"https://a.example", "https://*.a.example:8080, http://b.example"},
	"cors-allow-headers":           {"X-A, X-B"},
	"cors-allow-methods":           {"GET, PUT"},
	"cors-expose-headers":          {"X-C", "*"},
	"permanent-redirect":           {"https://a.example/x?y=z"},
	"temporal-redirect":            {"https://a.example/x?y=z"},
	"app-root":                     {"/a", "/$1"},
	"rewrite-target":               {"/$1", "/a"},
	"x-forwarded-prefix":           {"/p"},
	"server-alias":                 {"a.alias.example", "*.b.alias.example", "~^c\\d+\\.alias$"},
	"proxy-cookie-domain":          {"a.example b.example", "~a b"},
	"proxy-cookie-path":            {"/a /b"},
	"proxy-redirect-from":          {"http://a/", "~^a"},
	"proxy-redirect-to":            {"http://b/"},
	"proxy-ssl-ciphers":            {"HIGH:!aNULL", "ECDHE-RSA-AES128-GCM-SHA256"},
	"ssl-ciphers":                  {"HIGH:!aNULL", "ECDHE-RSA-AES128-GCM-SHA256"},
	"proxy-ssl-name":               {"a.example", "$host"},
	"upstream-hash-by":             {"$request_uri", "$host$x"},
	"upstream-vhost":               {"a.example", "$host"},
	"mirror-target":                {"https://a.example$request_uri", "http://127.0.0.1:81/"},
	"mirror-host":                  {"a.example", "$host"},
	"limit-allowlist":              {"10.0.0.0/8,::1"},
	"allowlist-source-range":       {"10.0.0.0/8,::1"},
	"denylist-source-range":        {"10.0.0.0/8,::1"},
	"custom-http-errors":           {"404,503"},
	"custom-headers":               {"shop/headers"},
	"auth-proxy-set-headers":       {"shop/headers"},
	"fastcgi-params-configmap":     {"shop/headers"},
	"fastcgi-index":                {"index.php"},
	"session-cookie-name":          {"ROUTE"},
	"session-cookie-path":          {"/a"},
	"default-backend":              {"web"},
	"backend-protocol":             {"GRPC", "GRPCS", "FCGI", "HTTPS", "AUTO_HTTP"},
	"canary-by-header-pattern":     {"a.*b"},
	"proxy-next-upstream":          {"error timeout http_502"},
	"proxy-buffer-size":            {"8k", "1m"},
	"proxy-busy-buffers-size":      {"16k"},
	"proxy-body-size":              {"8m"},
	"proxy-max-temp-file-size":     {"1m"},
	"client-body-buffer-size":      {"1m"},
	"opentelemetry-operation-name": {"op"},
	"proxy-ssl-protocols":          {"TLSv1.2 TLSv1.3"},
	"load-balance":                 {"ewma", "chash", "sticky_balanced"},
	"auth-method":                  {"POST"},
	"satisfy":                      {"any"},
	"auth-type":                    {"digest", "basic"},
	"connection-proxy-header":      {"keep-alive"},
}

// extremes are extreme numbers and sizes, and special words.
var extremes = []string{"0", "1", "-1", "2", "65535", "65536", "2147483647", "2147483648", "4294967296", "9223372036854775807", "999999999", "1000000", "100", "true", "false", "on", "off",
	"999999999k", "999999999m", "999999999g", "1k", "4k", "0k", "1024m", "2047m"}

// value returns a value for a key: valid, mangled, long, extreme or made of scraps.
func value(random *rand.Rand, name string) string {
	base := scribble(random)
	if good := samples[name]; len(good) > 0 && random.IntN(4) > 0 {
		base = good[random.IntN(len(good))]
	}
	switch random.IntN(8) {
	case 0:
		return extremes[random.IntN(len(extremes))]
	case 1:
		return scribble(random)
	case 2: // long
		unit := base[random.IntN(len(base)):]
		return base + strings.Repeat(unit, 1+[]int{40, 300, 1000, 3000, 4050, 4095, 4097, 9000}[random.IntN(8)]/len(unit))
	case 3: // a long list
		return strings.Repeat(base+",", []int{2, 10, 100, 500}[random.IntN(4)]) + base
	case 4, 5:
		at := random.IntN(len(base) + 1)
		return base[:at] + scraps[random.IntN(len(scraps))] + base[at:]
	case 6: // one long word of plain characters
		return base + strings.Repeat("a", []int{30, 47, 64, 120, 250, 500, 1000, 3900, 4090, 4200}[random.IntN(10)])
	}
	return base
}

// awkwardConfig returns the data of a ConfigMap with a few keys, with extreme values or values made
// of scraps.
func awkwardConfig(random *rand.Rand) map[string]string {
	config := make(map[string]string)
	table := options.Keys()
	for range 1 + random.IntN(3) {
		key := table[random.IntN(len(table))]
		if strings.HasSuffix(key.Name, "-snippet") || strings.HasSuffix(key.Name, "-log-path") {
			continue // snippets are directives by design; only nginx can tell whether a log file is writable
		}
		base := key.Default
		if base == "" || random.IntN(3) == 0 {
			base = scribble(random)
		}
		switch random.IntN(7) {
		case 0, 1:
			config[key.Name] = extremes[random.IntN(len(extremes))]
		case 2:
			config[key.Name] = base + strings.Repeat(base, []int{1, 40, 300, 1000, 4095}[random.IntN(5)]/len(base))
		case 3:
			config[key.Name] = strings.Repeat(base+",", []int{2, 100}[random.IntN(2)]) + base
		case 4:
			at := random.IntN(len(base) + 1)
			config[key.Name] = base[:at] + scraps[random.IntN(len(scraps))] + base[at:]
		case 5:
			config[key.Name] = scribble(random)
		case 6:
			quotes := []string{`"`, `'`, `\`, "\n", ";", "{", "}", "#", `\"`, "a b", "${", "$x", "\t"}
			at := random.IntN(len(base) + 1)
			config[key.Name] = base[:at] + quotes[random.IntN(len(quotes))] + base[at:]
		}
	}
	return config
}
