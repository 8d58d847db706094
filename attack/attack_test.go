package attack_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"windtunnel.dev/attack"
)

func TestReportKeepsRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary")
	t.Setenv("WINDTUNNEL_ATTACK_SUMMARY", path)
	want := []attack.Row{
		{Target: "a", Attack: "b", Tried: 2, Success: "c"},
		{Target: "d", Attack: "e", Tried: 3, Success: "f", Note: "g"},
	}
	for _, row := range want {
		attack.Report(t, row)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for _, row := range want {
		var got attack.Row
		if !lines.Scan() {
			t.Fatalf("no line for %+v", row)
		}
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil || got != row {
			t.Errorf("got %+v, %v, want %+v", got, err, row)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Setenv("WINDTUNNEL_ATTACK", "")
	if got := attack.Times(1, 1000); got != 1 {
		t.Errorf("an ordinary run tries %d times, want 1", got)
	}
	t.Setenv("WINDTUNNEL_ATTACK", "full")
	if got := attack.Times(1, 1000); got != 1000 {
		t.Errorf("a full run tries %d times, want 1000", got)
	}
}
