package adapters_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/adapters/adapterstest"
	"windtunnel.dev/internal/thirdparty"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/run"
	"windtunnel.dev/sim/checkup"
	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/subject"
)

// Behaviour cases run on controllers that are not nginx, and detect whether they reload.
func TestCases(t *testing.T) {
	t.Run("single", func(t *testing.T) {
		runCase(t, subject.Subject{Adapter: testAdapter(t, "single"), Controller: self(t)}, false)
	})
	t.Run("forked", func(t *testing.T) {
		runCase(t, subject.Subject{Adapter: testAdapter(t, "forked"), Controller: self(t), Nginx: self(t)}, true)
	})
	t.Run("beside", func(t *testing.T) {
		runCase(t, subject.Subject{Adapter: testAdapter(t, "beside"), Controller: self(t), Nginx: stub(t, adapterstest.EnvoyStub)}, false)
	})
	t.Run("contour with a stub of envoy", func(t *testing.T) {
		runCase(t, subject.Subject{Adapter: "contour", Controller: thirdparty.Program(t, "contour"), Nginx: stub(t, adapterstest.EnvoyStub)}, false)
	})
	t.Run("gateway", func(t *testing.T) {
		runCase(t, subject.Subject{Adapter: testAdapter(t, "gateway"), Controller: self(t)}, false)
	})
	t.Run("nginx-inc", func(t *testing.T) {
		runCase(t, nginxInc(t), true)
	})
	for _, adapter := range []string{"traefik", "traefik-gateway"} {
		t.Run(adapter, func(t *testing.T) {
			runCase(t, subject.Subject{Adapter: adapter, Controller: thirdparty.Program(t, "traefik")}, false)
		})
	}
}

func runCase(t *testing.T, s subject.Subject, reload bool) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a controller; not run with -short")
	}
	t.Parallel()
	text, err := os.ReadFile("testdata/case.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := behave.Parse("case.yaml", []byte(strings.ReplaceAll(string(text), "<reload>", strconv.FormatBool(reload))), behave.Known{})
	if err != nil {
		t.Fatal(err)
	}
	s.Name = "subject"
	results, err := run.Do(t.Context(), run.Options{Cases: []*behave.Case{c}, Driver: local.Driver{}, Subject: s, Dir: t.TempDir(), Installations: 1})
	if err != nil || results[0].Outcome != behave.Passed {
		t.Errorf("%v: %+v", err, results)
	}
}

// A case that HTTPRoutes cannot express is skipped for a controller that serves them, with the reason.
func TestCasesThatAreNoRoutes(t *testing.T) {
	text, err := os.ReadFile("testdata/case.yaml")
	if err != nil {
		t.Fatal(err)
	}
	hash := strings.Replace(string(text), "metadata: {name: web}", "metadata: {name: web, annotations: {nginx.ingress.kubernetes.io/upstream-hash-by: $host}}", 1)
	c, err := behave.Parse("case.yaml", []byte(strings.ReplaceAll(hash, "<reload>", "false")), behave.Known{})
	if err != nil {
		t.Fatal(err)
	}
	results, err := run.Do(t.Context(), run.Options{Cases: []*behave.Case{c}, Driver: local.Driver{}, Dir: t.TempDir(), Installations: 1,
		Subject: subject.Subject{Name: "subject", Adapter: testAdapter(t, "gateway"), Controller: self(t)}})
	if err != nil || results[0].Outcome != behave.Skipped || !strings.Contains(results[0].Reason, "upstream-hash-by") {
		t.Errorf("%v: %+v", err, results)
	}
}

// A checkup of a controller of the Gateway API finds nothing missing, including the status of its objects.
func TestGatewayAPIIsSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a controller; not run with -short")
	}
	t.Parallel()
	checkSeen(t, subject.Subject{Name: "subject", Adapter: testAdapter(t, "gateway"), Controller: self(t)})
}

// With these adapters, a checkup finds nothing missing.
func TestOthersAreSeen(t *testing.T) {
	for _, adapter := range []string{"traefik", "traefik-ingress", "traefik-gateway", "contour"} {
		t.Run(adapter, func(t *testing.T) {
			program, _, _ := strings.Cut(adapter, "-")
			s := subject.Subject{Name: "subject", Adapter: adapter, Controller: thirdparty.Program(t, program)}
			if program == "contour" {
				s.Nginx = stub(t, adapterstest.EnvoyStub)
			}
			t.Parallel()
			checkSeen(t, s)
		})
	}
}

func TestNGINXIncIsSeen(t *testing.T) {
	s := nginxInc(t)
	s.Name = "subject"
	t.Parallel()
	checkSeen(t, s)
}

func TestControllersWithHAProxyAreSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a controller; not run with -short")
	}
	for _, s := range haproxyControllers(t) {
		t.Run(s.Adapter, func(t *testing.T) {
			t.Parallel()
			s.Nginx = stub(t, "haproxy")
			if s.Adapter == "haproxytech" {
				checkSeen(t, s, "status") // it copies the address of a Service, and there is none
			} else {
				checkSeen(t, s)
			}
		})
	}
}

// checkSeen checks that a checkup finds only these points missing.
func checkSeen(t *testing.T, s subject.Subject, missing ...string) {
	t.Helper()
	o := checkup.Options{Driver: local.Driver{}, Subject: s, Dir: t.TempDir()}
	if len(missing) > 0 {
		o.Patience = 20 * time.Second
	}
	report, err := checkup.Do(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range report.Results {
		if result.OK == slices.Contains(missing, result.Point) {
			t.Errorf("%+v", result)
		}
	}
}
