package render_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/render"
)

// If nginx lacks the firewall's module or the files of its rules, locations with firewall
// annotations get 503, and the ConfigMap's setting is a finding, because nginx would reject the
// configuration.
func TestUnavailableFirewall(t *testing.T) {
	t.Parallel()
	const rules, owasp = "/etc/nginx/modsecurity/modsecurity.conf", "/etc/nginx/owasp-modsecurity-crs/nginx-modsecurity.conf"
	wishes := map[string]annotations.ModSecurity{
		"plain.example": {},
		"off.example":   {EnableSet: true},
		"on.example":    {EnableSet: true, Enable: true},
		"own.example":   {EnableSet: true, Enable: true, Snippet: "SecRuleEngine On"},
		"owasp.example": {EnableSet: true, Enable: true, OWASPRules: true},
		"more.example":  {OWASPRules: true},
	}
	for name, test := range map[string]struct {
		config    map[string]string
		noModule  bool
		missing   []string
		denied    string // hosts that get 503
		ofAll     string // part of the finding about the ConfigMap
		protected bool   // whether the ConfigMap turns the firewall on
	}{
		"all is there":                      {nil, false, nil, "", "", false},
		"no module":                         {nil, true, nil, "on own owasp", "", false},
		"no rules":                          {nil, false, []string{rules}, "on owasp", "", false},
		"no OWASP rules":                    {nil, false, []string{owasp}, "owasp", "", false},
		"no files":                          {nil, false, []string{rules, owasp}, "on owasp", "", false},
		"for all":                           {map[string]string{"enable-modsecurity": "true"}, false, nil, "", "", true},
		"for all, no module":                {map[string]string{"enable-modsecurity": "true"}, true, nil, "on own owasp more", "no module http_modsecurity; requests are not inspected", false},
		"for all, no rules":                 {map[string]string{"enable-modsecurity": "true"}, false, []string{rules}, "on owasp more", rules + "; requests are not inspected", false},
		"for all, with rules of its own":    {map[string]string{"enable-modsecurity": "true", "modsecurity-snippet": "SecRuleEngine On"}, false, []string{rules}, "", "", true},
		"for all, no OWASP rules":           {map[string]string{"enable-modsecurity": "true", "enable-owasp-modsecurity-crs": "true"}, false, []string{owasp}, "owasp more", owasp + "; OWASP's rules are left out", true},
		"for all, OWASP alone is not asked": {map[string]string{"enable-owasp-modsecurity-crs": "true"}, false, []string{owasp}, "owasp", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			in, program := here(t, test.config)
			_, real := in.Optional["http_modsecurity"]
			in.Missing = test.missing
			in.Optional = maps.Clone(in.Optional)
			switch {
			case test.noModule:
				delete(in.Optional, "http_modsecurity")
				real = true // without the module, any nginx works
			case !real:
				in.Optional["http_modsecurity"] = nil
			}
			for _, file := range render.FirewallFiles() {
				if !strings.Contains(strings.Join(test.missing, " "), file) {
					if err := os.MkdirAll(filepath.Dir(in.Options.Path(file)), 0o755); err != nil {
						t.Fatal(err)
					}
					put(t, in, file, []byte("SecRuleEngine On\n"))
				}
			}
			changes := make(map[string]func(*model.Location))
			for host, wish := range wishes {
				changes[host] = func(l *model.Location) { l.ModSecurity = wish }
			}
			m := hosts(in, pod(t, told), changes)
			var ofAll []string
			for _, finding := range render.Findings(m, in) {
				if finding.Key == "enable-modsecurity" {
					ofAll = append(ofAll, finding.Reason)
				}
			}
			if text := strings.Join(ofAll, "\n"); !strings.Contains(text, test.ofAll) || (test.ofAll == "") != (text == "") {
				t.Errorf("findings about the ConfigMap %q, want %q", text, test.ofAll)
			}
			conf, err := render.Render(m, in)
			if err != nil {
				t.Fatal(err)
			}
			http, _, _ := strings.Cut(string(conf), "server {")
			if got := strings.Contains(http, "modsecurity on;"); got != test.protected {
				t.Errorf("the firewall is on for all: %t", got)
			}
			for host := range wishes {
				_, server, _ := strings.Cut(string(conf), fmt.Sprintf("server_name %q", host))
				server, _, _ = strings.Cut(server, "server_name ")
				short, _, _ := strings.Cut(host, ".")
				if got, want := strings.Contains(server, "return 503;"), strings.Contains(" "+test.denied+" ", " "+short+" "); got != want {
					t.Errorf("%s is denied: %t", host, got)
				}
			}
			if real {
				taken(t, m, in, program)
			}
		})
	}
}

// Each ingress with denied locations has a finding.
func TestUnavailableFirewallIsAFinding(t *testing.T) {
	in := render.Input{Missing: render.FirewallFiles(), Optional: map[string][]string{"http_modsecurity": nil}}
	location := &model.Location{Ingress: &model.Ingress{Ingress: &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"}}}, Location: annotations.Location{ModSecurity: annotations.ModSecurity{EnableSet: true, Enable: true}}}
	m := &model.Model{Servers: []*model.Server{{Locations: []*model.Location{location}}}}
	findings := render.Findings(m, in)
	if len(findings) != 1 || findings[0].Object != "Ingress demo/web" || !strings.Contains(findings[0].Reason, "there is no file /etc/nginx/modsecurity/modsecurity.conf; locations with ModSecurity answer 503") {
		t.Errorf("got %v", findings)
	}
}
