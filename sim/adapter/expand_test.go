package adapter

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/event"
)

func expand(t *testing.T, a *Adapter, data Data) *Setup {
	t.Helper()
	setup, err := a.Expand(data)
	if err != nil {
		t.Fatal(err)
	}
	return setup
}

func TestExpand(t *testing.T) {
	s := expand(t, mustParse(t, good), Data{
		Controller: "/bin/good", Kubeconfig: "/k", Root: "/r", Ports: PortsFrom(9000), APIServer: APIServer{Host: "127.0.0.1", Port: 6443},
		Flags: map[string]string{"v": "2", "a": "b"}, Config: map[string]string{"key": "value", "http-port": "80"},
		Streams: []Stream{{1, "demo/a:9"}, {2, "demo/b:9"}}, Help: Help{Flags: map[string]bool{"empty": true}},
	})
	for _, test := range []struct {
		what      string
		got, want any
	}{
		{"command", s.Command, []string{"/bin/good", "--root=/r", "--streams", "1=demo/a:9 2=demo/b:9 "}},
		{"arguments", s.Arguments, []string{"-a b", "-v 2"}},
		{"an environment without what is empty", s.Env, map[string]string{
			"KUBECONFIG": "/k", "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "6443", "KUBERNETES_SERVICE_PORT_HTTPS": "6443"}},
		{"directory", s.Directory, "/r/work"},
		{"class", s.IngressClass.Controller, "example.com/system"},
		{"health", []string{s.Health[0].URL, s.Health[1].Address}, []string{"http://127.0.0.1:9005/healthz", "127.0.0.1:9000"}},
		{"status", []int{s.Health[0].Status, s.Health[1].Status}, []int{200, 0}},
		{"streams", *s.Streams, Streams{"system/tcp", "system/udp"}},
		{"isolation", s.Isolation.Folders, []string{"/etc/proxy"}},
		{"unapplied", len(s.Unapplied), 0},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.what, diff)
		}
	}
	var files []string
	for _, f := range s.Files {
		files = append(files, f.Path)
	}
	if diff := cmp.Diff([]string{"etc/proxy.cfg", "etc/own", "etc/modules", "etc/empty"}, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	data, _, _ := unstructured.NestedStringMap(s.Objects[0].Object, "data")
	if diff := cmp.Diff(map[string]string{"key": "value", "http-port": "9000"}, data); diff != "" {
		t.Errorf("the ConfigMap gets the subject's keys, and keeps its own (-want +got):\n%s", diff)
	}
}

func TestExpandLeavesOutWhatDoesNotApply(t *testing.T) {
	a := mustParse(t, good)
	s := expand(t, a, Data{Controller: "/bin/good", Lua: "/lua", Root: "/r"})
	if len(s.Command) != 2 || s.Isolation != nil || len(s.Files) != 4 || s.Files[1].From != "/lua" {
		t.Errorf("command %q, isolation %v, files %v", s.Command, s.Isolation, s.Files)
	}
	if again := expand(t, a, Data{Controller: "/bin/good", Streams: []Stream{{1, "a/b:1"}}}); len(again.Command) != 4 || again.Isolation == nil {
		t.Error("an expansion has changed the adapter")
	}
	a.ConfigMap = ""
	if s := expand(t, a, Data{Config: map[string]string{"b": "1", "a": "2"}}); !cmp.Equal(s.Unapplied, []string{"a", "b"}) {
		t.Errorf("unapplied %q", s.Unapplied)
	}
}

// A controller needs its service account for in-cluster configuration, or if it is handed the token. An
// adapter may set the variables itself.
func TestServiceAccount(t *testing.T) {
	plain := strings.NewReplacer("  inCluster: true\n", "", "  serviceAccount: good.controller\n", "")
	if s := expand(t, mustParse(t, plain.Replace(good)), Data{}); s.HasAccount || s.ServiceAccount != "default" || len(s.Env) > 0 {
		t.Errorf("without a service account: %t, %s, %v", s.HasAccount, s.ServiceAccount, s.Env)
	}
	a := mustParse(t, strings.Replace(plain.Replace(good), "{{.Lua}}\"}", "{{.APIServer.Token}}\", KUBERNETES_SERVICE_HOST: localhost}", 1))
	data := Data{APIServer: APIServer{Host: "127.0.0.1", Token: "/token"}}
	if s := expand(t, a, data); !s.HasAccount || s.Env["LUA"] != "/token" || len(s.Env) != 2 {
		t.Errorf("with the token: %t, %v", s.HasAccount, s.Env)
	}
	a.InCluster = true
	if s := expand(t, a, data); s.Env["KUBERNETES_SERVICE_HOST"] != "localhost" || s.Env["KUBERNETES_SERVICE_PORT"] == "" {
		t.Errorf("with an address of its own: %v", s.Env)
	}
}

func TestHelp(t *testing.T) {
	known := Data{Help: Help{Flags: map[string]bool{"a": true}, Whole: true}}
	unknown := Data{Help: Help{Flags: map[string]bool{"a": true}}}
	if !known.Supports("a") || known.Lacks("a") || known.Supports("b") || !known.Lacks("b") {
		t.Error("Supports or Lacks is wrong if all flags are known")
	}
	if !unknown.Supports("a") || unknown.Lacks("b") {
		t.Error("Supports or Lacks is wrong if only some flags are known")
	}
}

func TestLines(t *testing.T) {
	s := expand(t, mustParse(t, good), Data{})
	at := time.Date(2026, 1, 1, 0, 0, 2, 0, time.UTC)
	for line, want := range map[string]*event.Sync{
		"reloaded in 20ms because of a new host\n":                                     {Partial: true, Reload: true, Took: 20 * time.Millisecond, Why: []string{"of a new host"}},
		"reloaded in some-time because \n":                                             {Partial: true, Reload: true},
		`{"msg":"synced","time":"2026-01-01T00:00:02Z","took":5,"reload":true}` + "\n": {Took: 5, Reload: true},
		`{"msg":"other"}`: nil,
		`{"msg":"synced"`: nil,
		"nothing":         nil,
	} {
		got, when := s.Read([]byte(line))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
		if want != nil && want.Took == 5 && !when.Equal(at) {
			t.Errorf("%q: at %v", line, when)
		}
	}
}
