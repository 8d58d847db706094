package render_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/internal/nginxtest"
)

const streamTemplate = `events {}
stream {
# preread_by_lua_block is only a comment
lua_shared_dict a 5M;
lua_add_variable $b;
log_format main '$b
  $remote_addr';
# Lua chooses
upstream dynamic {
server 0.0.0.1:1;
balancer_by_lua_file /b.lua;
}
upstream fixed {
server 127.0.0.1:1;
}
server {
listen 1;
preread_by_lua_block { ngx.var.b = "{}" }
proxy_pass dynamic;
}
server { listen 2; content_by_lua_file /c.lua; }
server {
listen 3;
proxy_pass dynamic;
}
# no content_by_lua_block here
server {
listen 4;
proxy_pass fixed;
}
}
http {
lua_shared_dict a 5M;
}
`

// Without stream-lua, the parts of a template's stream block that need it are left out, with a
// finding. The others stay.
func TestStreamBlockWithoutStreamLua(t *testing.T) {
	for name, test := range map[string]struct {
		has    options.Stream
		lines  string // of the configuration, without indents and blank lines
		module string // that a finding reports as missing
	}{
		"stream-lua": {has: options.LuaStream, lines: streamTemplate},
		"stream": {has: options.PlainStream, module: "stream_lua", lines: `events {}
stream {
map "" $b {
default "";
}
log_format main '$b
$remote_addr';
upstream fixed {
server 127.0.0.1:1;
}
# no content_by_lua_block here
server {
listen 4;
proxy_pass fixed;
}
}
http {
lua_shared_dict a 5M;
}
`},
		"nothing": {has: options.NoStream, module: "stream", lines: "events {}\nhttp {\nlua_shared_dict a 5M;\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			in := input()
			in.Options.Stream = test.has
			var err error
			if in.Template, err = render.Parse("my.tmpl", []byte(streamTemplate)); err != nil {
				t.Fatal(err)
			}
			got, err := render.Render(&model.Model{}, in)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := lines(string(got)), lines(test.lines); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			found := ""
			for _, finding := range render.Findings(&model.Model{}, in) {
				if finding.Key == "stream" {
					found = finding.String()
				}
			}
			if (found == "") != (test.module == "") || test.module != "" && !strings.Contains(found, "no module "+test.module+" ") {
				t.Errorf("finding %q, want one about %q", found, test.module)
			}
		})
	}
}

// lines removes indents and blank lines.
func lines(text string) string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return strings.Join(all, "\n")
}

// nginx serves the remaining parts of the stream block.
func TestServersWithoutStreamLuaAreServed(t *testing.T) {
	t.Parallel()
	in, program := here(t, nil)
	files, err := program.Load("stream")
	if err != nil {
		t.Skip(err)
	}
	in.Modules = append(in.Modules, files...)
	in.Options.Stream = options.PlainStream
	port := nginxtest.FreePorts(t, 1)
	text := strings.NewReplacer("listen 4;\nproxy_pass fixed;", fmt.Sprintf("listen 127.0.0.1:%d;\nreturn \"served [$b]\";", port)).Replace(streamTemplate)
	text = "daemon off;\npid {{ .PID }};\nerror_log /var/log/nginx/error.log;\n" + text
	if in.Template, err = render.Parse("my.tmpl", []byte(text)); err != nil {
		t.Fatal(err)
	}
	nginxtest.StartFile(t, program, write(t, &model.Model{}, in), in.Options.Path("/var/log/nginx/error.log"))
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if answer, err := io.ReadAll(connection); string(answer) != "served []" {
		t.Errorf("answer %q, %v", answer, err)
	}
}
