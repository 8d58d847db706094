package nginxtest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Conf is a small nginx.conf: the lines that every nginx of a test needs, and those of one test.
type Conf struct {
	Modules []string // files for load_module lines
	Workers int      // default 2
	Main    string   // lines at the top level
	HTTP    string   // lines of the http block
}

// In returns the text. With it, nginx writes only below the folder: its PID to nginx.pid, and its
// log to error.log.
func (c Conf) In(folder string) string {
	var loads strings.Builder
	for _, module := range c.Modules {
		fmt.Fprintf(&loads, "load_module %s;\n", module)
	}
	return fmt.Sprintf(`daemon off;
worker_processes %[2]d;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log info;
%[3]s%[4]s
events {}
http {
access_log off;
client_body_temp_path %[1]s/body;
proxy_temp_path %[1]s/proxy;
fastcgi_temp_path %[1]s/fastcgi;
uwsgi_temp_path %[1]s/uwsgi;
scgi_temp_path %[1]s/scgi;
%[5]s
}
`, folder, cmp.Or(c.Workers, 2), &loads, c.Main, c.HTTP)
}

// Write writes the text to nginx.conf in the folder, and returns the path of the file.
func (c Conf) Write(t testing.TB, folder string) (file string) {
	t.Helper()
	file = filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(file, []byte(c.In(folder)), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
