package main

import (
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/behave"
)

// caseFiles is the folder of the cases, from the folder of this package.
var caseFiles = filepath.Join("..", "..", caseFolder)

// All cases are valid, have unique names, and share no host: another case must not answer in their place.
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
