package nginx

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func FuzzParseBuild(f *testing.F) {
	f.Add("nginx version: nginx/1.22.1\nconfigure arguments: --with-cc-opt='-g -O2' --with-stream=dynamic")
	f.Add("nginx version: openresty/1.21.4.1\nconfigure arguments: --prefix='")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := parseBuild(text)
		if err != nil {
			return
		}
		if compareVersions(b.version, b.version) != 0 {
			t.Errorf("%s differs from itself", b.version)
		}
		if !filepath.IsAbs(b.modulesPath()) && !strings.Contains(text, "--prefix=") {
			t.Errorf("modules path %q is not absolute", b.modulesPath())
		}
	})
}

func TestFilesOfNginx(t *testing.T) {
	for name, test := range map[string]struct{ arguments, file string }{
		"by the path of its configuration": {"--prefix=DIR/share --conf-path=DIR/etc/nginx.conf", "etc/mime.types"},
		"by a path below its prefix":       {"--prefix=DIR/openresty --conf-path=conf/nginx.conf", "openresty/conf/mime.types"},
		"by its prefix":                    {"--prefix=DIR/opt", "opt/conf/mime.types"},
		"beside the binary":                {"--prefix=/nowhere", "conf/mime.types"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			binary := filepath.Join(dir, "sbin/nginx")
			arguments := strings.ReplaceAll(test.arguments, "DIR", dir)
			n := &Nginx{Binary: binary, arguments: strings.Fields(arguments)}
			if _, err := n.File("mime.types"); err == nil {
				t.Error("a file that does not exist was found")
			}
			want := filepath.Join(dir, test.file)
			if err := os.MkdirAll(filepath.Dir(want), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(want, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if got, err := n.File("mime.types"); got != want {
				t.Errorf("found %s, %v, want %s", got, err, want)
			}
		})
	}
}
