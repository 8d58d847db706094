package web

import (
	"testing"

	"windtunnel.dev/internal/webpage/webpagetest"
	"windtunnel.dev/sim/scenario"
)

func TestPageIsReadable(t *testing.T) {
	files, err := render(&scenario.Scenario{Name: "storm", Spec: scenario.Spec{Subjects: []scenario.Subject{{Name: "reload"}, {Name: "dynamic"}}}})
	if err != nil {
		t.Fatal(err)
	}
	webpagetest.Check(t, files["page.html"].content)
}
