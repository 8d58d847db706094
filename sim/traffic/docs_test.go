package traffic

import (
	"os"
	"strings"
	"testing"
)

func TestReferenceListsAllLanes(t *testing.T) {
	text, err := os.ReadFile("../../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Lanes() {
		if row := "| `" + name + "` | " + DocOf(name) + " |"; DocOf(name) == "" || !strings.Contains(string(text), row) {
			t.Errorf("docs/scenarios.md lacks the row\n%s", row)
		}
	}
}
