package behave_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/specfile"
)

// Each case of the project stays the same when it is written and read again.
func TestMarshalIsReadBack(t *testing.T) {
	files, err := filepath.Glob("../../cases/*/*.yaml")
	if err != nil || len(files) < 100 {
		t.Fatal(len(files), err)
	}
	texts := map[string][]byte{"x/good.yaml": []byte(good)}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = text
	}
	for file, text := range texts {
		first, err := behave.Parse(file, text, behave.Known{})
		if err != nil {
			t.Fatal(err)
		}
		written, err := first.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		second, err := behave.Parse(file, written, behave.Known{})
		if err != nil {
			t.Fatalf("%s is not valid when it is written:\n%v\n%s", file, err, written)
		}
		lines := cmpopts.IgnoreFields(behave.Step{}, "Line")
		if diff := cmp.Diff(first, second, lines, cmpopts.IgnoreFields(specfile.Manifest{}, "Line")); diff != "" {
			t.Errorf("%s, -read +written and read:\n%s", file, diff)
		}
	}
}
