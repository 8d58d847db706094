package fault

import "testing"

func TestScopeCovers(t *testing.T) {
	status := Request{Verb: "update", Resource: "ingresses.networking.k8s.io/status", Namespace: "shop", Name: "web", UserAgent: "nginx/1.2", Connection: 7}
	for name, test := range map[string]struct {
		scope Scope
		want  bool
	}{
		"everything":                  {Scope{}, true},
		"its resource":                {Scope{Resources: []string{"ingresses.networking.k8s.io/status"}}, true},
		"its resource, short":         {Scope{Resources: []string{"services", "ingresses/status"}}, true},
		"the resource without status": {Scope{Resources: []string{"ingresses", "ingresses.networking.k8s.io"}}, false},
		"its verb":                    {Scope{Verbs: []string{"patch", "update"}}, true},
		"another verb":                {Scope{Verbs: []string{"get"}}, false},
		"its namespace and name":      {Scope{Namespace: "shop", Name: "web"}, true},
		"another namespace":           {Scope{Namespace: "default"}, false},
		"another name":                {Scope{Name: "api"}, false},
		"its agent":                   {Scope{UserAgent: "nginx/"}, true},
		"another agent":               {Scope{UserAgent: "kubectl"}, false},
		"its agent, spared":           {Scope{Spare: "nginx/"}, false},
		"another agent, spared":       {Scope{Spare: "kubectl"}, true},
		"its connection":              {Scope{Connection: 7}, true},
		"another connection":          {Scope{Connection: 8}, false},
	} {
		if got := test.scope.Covers(&status); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if service := (Request{Resource: "services"}); !(&Scope{Resources: []string{"services"}}).Covers(&service) {
		t.Error("a resource of the core group is not covered")
	}
}
