package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/sim/behave"
)

// caseFiles is the folder of the cases, from the folder of this package.
var caseFiles = filepath.Join("..", "..", caseFolder)

// All cases are valid, have names of their own, and share no host: another case must not answer in
// their place.
func TestCasesShareNoHost(t *testing.T) {
	cases, err := loadCases([]string{caseFiles})
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]*behave.Case{}
	for _, c := range cases {
		for _, host := range hostsOf(c) {
			if other := first[host]; other != nil && other != c {
				t.Errorf("%s and %s have an ingress for %s", other.File, c.File, host)
			}
			first[host] = c
		}
	}
}

// hostsOf returns the hosts in the rules of a case's ingresses.
func hostsOf(c *behave.Case) []string {
	var hosts []string
	for _, m := range c.Manifests {
		if m.Object.GetKind() != "Ingress" {
			continue
		}
		rules, _, _ := unstructured.NestedSlice(m.Object.Object, "spec", "rules")
		for _, rule := range rules {
			fields, _ := rule.(map[string]any)
			if host, _ := fields["host"].(string); host != "" { // a case without a host runs alone
				hosts = append(hosts, host)
			}
		}
	}
	return hosts
}

// The bundled controller passes all cases, or differs as they admit. Few controllers run at a time,
// because the tests of other packages run as well.
func TestCasesPassOnTheBundledController(t *testing.T) {
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	if err := doctor.Fit(); err != nil {
		t.Skip("no subject can run on this machine: ", err)
	}
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), []string{
		"case", "run", "--installations", "4", "--bundled", "--controller", built.Command(t, "nginx-ingress-controller"), "-o", filepath.Join(t.TempDir(), "run"), caseFiles,
	}, &stdout, &stderr)
	if code != exitOK {
		t.Errorf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
}
