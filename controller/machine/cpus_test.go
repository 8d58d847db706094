package machine

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCPUsFollowTheLimitOfTheContainer(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  int
	}{
		"no limit":            {map[string]string{"cpu.max": "max 100000\n"}, 8},
		"half a CPU":          {map[string]string{"cpu.max": "50000 100000\n"}, 1},
		"one and a half":      {map[string]string{"cpu.max": "150000 100000\n"}, 2},
		"more than there are": {map[string]string{"cpu.max": "9900000 100000\n"}, 8},
		"version 1":           {map[string]string{"cpu/cpu.cfs_quota_us": "250000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3},
		"version 1, no limit": {map[string]string{"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8},
		"unexpected content":  {map[string]string{"cpu.max": "a b"}, 8},
		"no files":            {nil, 8},
	} {
		folder := t.TempDir()
		for file, text := range test.files {
			path := filepath.Join(folder, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := CPUs(folder, 8); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
