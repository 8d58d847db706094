package container

import (
	"fmt"
	"strings"
	"testing"

	"github.com/moby/moby/client"
	"k8s.io/apimachinery/pkg/api/resource"

	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/scenario"
)

func quantity(text string) scenario.Quantity {
	return scenario.Quantity{Quantity: resource.MustParse(text)}
}

// containersOf counts the containers of a harness.
func containersOf(t *testing.T, pid int) int {
	t.Helper()
	provider, err := engine.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer provider.Close()
	return len(ids(t, provider.Client(), pid))
}

func ids(t *testing.T, api client.APIClient, pid int) []string {
	t.Helper()
	all, err := api.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", harnessLabel)})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, one := range all.Items {
		if strings.HasPrefix(one.Labels[harnessLabel], fmt.Sprintf("%d ", pid)) {
			found = append(found, one.ID)
		}
	}
	return found
}
