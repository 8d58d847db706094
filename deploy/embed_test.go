package deploy_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The certificate of the webhook lies beside its manifests, and must not become part of our programs.
func TestPrivateKeysAreNotEmbedded(t *testing.T) {
	key, err := filepath.Abs("admission/tls.key")
	if err != nil {
		t.Fatal(err)
	}
	content := filepath.Join(t.TempDir(), "tls.key")
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {key: content}})
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string][]byte{content: []byte("secret"), overlay: replace} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("go", "list", "-overlay", overlay, "-f", `{{join .EmbedFiles "\n"}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	embedded := strings.Fields(string(out))
	if len(embedded) == 0 {
		t.Error("nothing is embedded")
	}
	for _, file := range embedded {
		if filepath.Ext(file) != ".yaml" {
			t.Errorf("%s is embedded", file)
		}
	}
}
