package permission

import (
	"errors"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// server is an API server that refuses some verbs of resources, and does not answer about others.
func server(refused, broken string) *fake.Clientset {
	client := fake.NewClientset()
	client.PrependReactor("create", "selfsubjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview)
		asked := review.Spec.ResourceAttributes
		what := asked.Verb + " " + asked.Resource + "/" + asked.Subresource + " in " + asked.Namespace
		if what == broken {
			return true, nil, errors.New("no answer")
		}
		review.Status.Allowed = what != refused
		return true, review, nil
	})
	return client
}

func TestRequire(t *testing.T) {
	wanted := append(To("networking.k8s.io", "ingresses", "list", "watch"), Permission{Verb: "get", Resource: "pods/proxy", Namespace: "here"})
	for name, c := range map[string]struct{ refused, broken, err string }{
		"all allowed":   {},
		"a verb":        {refused: "watch ingresses/ in ", err: "the user of the kubeconfig lacks permissions (deploy/x has a role with all of them): watch ingresses.networking.k8s.io"},
		"a subresource": {refused: "get pods/proxy in here", err: "the user of the kubeconfig lacks permissions (deploy/x has a role with all of them): get pods/proxy"},
		"no answer":     {broken: "list ingresses/ in ", err: "ask the API server for the user's permissions: no answer"},
	} {
		err := Require(t.Context(), server(c.refused, c.broken), wanted, "deploy/x")
		if err == nil && c.err != "" || err != nil && err.Error() != c.err {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
	}
}

func TestMissing(t *testing.T) {
	missing, err := Missing(t.Context(), server("list ingresses/ in ", "watch ingresses/ in "), To("networking.k8s.io", "ingresses", "watch", "list"))
	if len(missing) != 1 || missing[0].Verb != "list" || err == nil {
		t.Errorf("%v, %v: want list to be missing, and an error about watch", missing, err)
	}
}
