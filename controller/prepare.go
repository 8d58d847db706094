package controller

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/passthrough"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/tls"
)

func layout(c Config) apply.Layout { return apply.Layout{Root: c.Options.Root} }

// prepare makes nginx's directories and code, and a certificate, completes
// the options by what the machine is like, and returns what rendering needs to
// know of it.
func prepare(c *Config) (render.Input, error) {
	files := layout(*c)
	if err := files.Make(); err != nil {
		return render.Input{}, err
	}
	if c.Lua != nil {
		if err := apply.Copy(files.Lua(), c.Lua); err != nil {
			return render.Input{}, fmt.Errorf("writing the Lua code for nginx: %w", err)
		}
	}
	c.Options.Stream = streamOf(c.Nginx)
	c.Options.ForeignTemplate = c.Template != nil
	modules, err := c.Nginx.Load(modulesFor(c.Options, c.Nginx)...)
	if err != nil {
		return render.Input{}, err
	}
	if c.Options.DefaultCertificate, err = tls.Fake(time.Now()); err != nil {
		return render.Input{}, err
	}
	user, err := c.Nginx.Unprivileged()
	if err != nil {
		return render.Input{}, err
	}
	ipv6 := hasIPv6()
	c.Options.Config = options.Defaults(cpus("/sys/fs/cgroup", runtime.NumCPU()), ipv6)
	if c.NginxDebug {
		c.Options.Config.ErrorLogLevel = "debug"
	}
	input := render.Input{
		Template:       c.Template,
		Modules:        modules,
		User:           user,
		ModulesPath:    c.Nginx.ModulesPath,
		Optional:       c.Nginx.Available(render.OptionalModules()...),
		Missing:        missing(c.Options),
		HTTP2Directive: c.Nginx.AtLeast("1.25.1"),
		StreamRealIP:   c.Nginx.Has("stream_realip"),
		IPv6:           ipv6,
		Resolvers:      nameservers("/etc/resolv.conf"),
		Backlog:        backlog("/proc/sys/net/core/somaxconn"),
		FileLimit:      fileLimit(),
	}
	return input, checkTemplate(input, c.Options, c.Nginx)
}

// streamOf is what nginx can do with TCP and UDP.
func streamOf(program *nginx.Nginx) options.Stream {
	switch {
	case program.Has("stream_lua"):
		return options.LuaStream
	case program.Has("stream"):
		return options.PlainStream
	}
	return options.NoStream
}

// modulesFor are those that our nginx.conf needs, and those that snippets and
// templates written for ingress-nginx's image rely on.
func modulesFor(o options.Options, program *nginx.Nginx) []string {
	modules := []string{"ndk_http", "http_lua"}
	for _, name := range []string{"http_set_misc", "http_headers_more_filter"} {
		if program.Has(name) {
			modules = append(modules, name)
		}
	}
	switch o.Stream {
	case options.LuaStream:
		modules = append(modules, "stream_lua")
	case options.PlainStream:
		modules = append(modules, "stream")
	}
	return modules
}

// listener is what has the port of HTTPS in nginx's place; nil if nothing has.
func listener(c Config) *passthrough.Proxy {
	if !c.Options.EnableSSLPassthrough {
		return nil
	}
	return &passthrough.Proxy{Log: c.Log, Control: avoidDoors(c.Options.Ports)}
}

// hasIPv6 says whether this machine can listen on IPv6.
func hasIPv6() bool {
	listener, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		return false
	}
	listener.Close()
	return true
}

// nameservers are the addresses that a resolv.conf(5) names. A machine without
// the file has none.
func nameservers(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "nameserver" {
			found = append(found, fields[1])
		}
	}
	return found
}

// backlog is the kernel's bound on a listen queue, or nginx's own default of
// 511 where that is less or unknown, as in ingress-nginx.
func backlog(path string) int {
	const least = 511
	text, err := os.ReadFile(path)
	if err != nil {
		return least
	}
	bound, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return least
	}
	return max(least, bound)
}

// fileLimit is how many files a process may have open at most.
func fileLimit() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(limit.Max, 1<<31-1))
}
