package nginx_test

import (
	"slices"
	"testing"

	"windtunnel.dev/internal/nginxtest"
)

func TestVariables(t *testing.T) {
	program, _ := nginxtest.Find(t)
	got, err := program.Variables([]string{"host", "no_such", "status", "nor_this", "http_x"}, []string{"http_lua", "no_such_module"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"host", "status", "http_x"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
