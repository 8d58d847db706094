package nginx_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/controller/nginx"
)

// fake writes a script that answers -V like an nginx with these build arguments.
func fake(t *testing.T, version, arguments string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nginx")
	script := "#!/bin/sh\necho >&2 'nginx version: " + version + "'\necho >&2 \"configure arguments: " + arguments + "\"\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustFind(t *testing.T, binary string) *nginx.Nginx {
	t.Helper()
	n, err := nginx.Find(binary)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q\nlacks %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error has several lines: %q", err)
	}
}

func TestFindPrefersItsArgumentToTheVariable(t *testing.T) {
	asked, named := fake(t, "nginx/1.25.1", ""), fake(t, "nginx/1.19.0", "")
	t.Setenv(nginx.BinaryVariable, named)
	if got := mustFind(t, asked).Binary; got != asked {
		t.Errorf("found %s, want %s", got, asked)
	}
	if got := mustFind(t, "").Binary; got != named {
		t.Errorf("found %s, want %s", got, named)
	}
}

func TestFindReportsWhatIsWrong(t *testing.T) {
	t.Setenv(nginx.BinaryVariable, "/nowhere/nginx")
	_, err := nginx.Find("")
	wantError(t, err, "$NGINX_BINARY", "/nowhere/nginx")
	_, err = nginx.Find("/bin/echo")
	wantError(t, err, "/bin/echo", "is this nginx?")
}

func TestVersionsCompareByNumber(t *testing.T) {
	for version, want := range map[string]bool{
		"nginx/1.25.1": true, "nginx/1.26": true, "nginx/1.100.0 (Ubuntu)": true, "openresty/1.25.3.2": true,
		"nginx/1.25": false, "nginx/1.9.15": false, "openresty/1.21.4.1": false,
	} {
		if got := mustFind(t, fake(t, version, "")).AtLeast("1.25.1"); got != want {
			t.Errorf("%s is at least 1.25.1: %v, want %v", version, got, want)
		}
	}
}

func TestModulesPath(t *testing.T) {
	for arguments, want := range map[string]string{
		"":                               "/usr/local/nginx/modules",
		"--prefix=/opt/n":                "/opt/n/modules",
		"--prefix=/opt --modules-path=m": "/opt/m",
		"--with-cc-opt='-O2 --modules-path=/no' --modules-path=/usr/lib/nginx/modules": "/usr/lib/nginx/modules",
	} {
		if got := mustFind(t, fake(t, "nginx/1.25.1", arguments)).ModulesPath; got != want {
			t.Errorf("%s: modules in %s, want %s", arguments, got, want)
		}
	}
}

// A successful test is not an error, even if a child keeps nginx's output open.
func TestOutputThatIsReadTooLate(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "nginx")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\nsleep 5 &\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := (&nginx.Nginx{Binary: binary}).Test(t.Context(), "nginx.conf"); err != nil {
		t.Error(err)
	}
}

// A kill of nginx -t is no verdict, even if nginx has already logged a non-fatal error.
func TestKilledTestDecidesNothing(t *testing.T) {
	for how, want := range map[string]bool{"kill -9 $$": true, "exit 1": false} {
		binary := filepath.Join(t.TempDir(), "nginx")
		script := "#!/bin/sh\necho >&2 \"nginx: [alert] detected a LuaJIT version which is not OpenResty's\"\n" + how + "\n"
		if err := os.WriteFile(binary, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		err := (&nginx.Nginx{Binary: binary}).Test(t.Context(), "nginx.conf")
		wantError(t, err)
		if nginx.Undecided(err) != want {
			t.Errorf("%s: %v counts as undecided: %t", how, err, !want)
		}
	}
}
