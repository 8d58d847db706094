package controller

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"runtime"
	"time"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/machine"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/passthrough"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/tls"
)

func layout(c Config) apply.Layout { return apply.Layout{Root: c.Options.Root} }

// prepare creates nginx's directories and a default certificate, writes its Lua code, completes the
// options, and returns the inputs of configurations besides the cluster.
func prepare(c *Config) (compile.Input, error) {
	files := layout(*c)
	if err := files.Make(); err != nil {
		return compile.Input{}, err
	}
	if err := writeLua(*c); err != nil {
		return compile.Input{}, fmt.Errorf("writing the Lua code for nginx: %w", err)
	}
	if c.Admission != nil {
		c.Options.Ports.Webhook = c.Admission.Listener.Addr().(*net.TCPAddr).Port
	}
	c.Options.ForeignLua = c.LuaFallback != nil
	c.Options.Stream = streamOf(c.Nginx)
	c.Options.ForeignTemplate = c.Template != nil
	modules, err := c.Nginx.Load(modulesFor(c.Options, c.Nginx)...)
	if err != nil {
		return compile.Input{}, err
	}
	if c.Options.Variables, err = c.Nginx.Variables(options.PossibleVariables(c.Nginx.AtLeast, c.Nginx.Has)); err != nil {
		return compile.Input{}, err
	}
	if c.Options.DefaultCertificate, err = tls.Fake(time.Now()); err != nil {
		return compile.Input{}, err
	}
	user, err := c.Nginx.Unprivileged()
	if err != nil {
		return compile.Input{}, err
	}
	mimeTypes, err := c.Nginx.File("mime.types")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return compile.Input{}, err
	}
	ipv6 := machine.HasIPv6()
	c.Options.Config = options.Defaults(machine.CPUs("/sys/fs/cgroup", runtime.NumCPU()), ipv6)
	if c.NginxDebug {
		c.Options.Config.ErrorLogLevel = "debug"
	}
	input := compile.Input{
		Input: render.Input{
			Options:        c.Options,
			Template:       c.Template,
			Modules:        modules,
			User:           user,
			ModulesPath:    c.Nginx.ModulesPath,
			Optional:       c.Nginx.Available(render.OptionalModules()...),
			Missing:        missing(c.Options),
			MIMETypes:      mimeTypes,
			HTTP2Directive: c.Nginx.AtLeast("1.25.1"),
			StreamRealIP:   c.Nginx.Has("stream_realip"),
			IPv6:           ipv6,
			Resolvers:      machine.Nameservers("/etc/resolv.conf"),
			Backlog:        machine.Backlog("/proc/sys/net/core/somaxconn"),
			FileLimit:      machine.FileLimit(),
		},
		ConfigMap: c.ConfigMap,
		Writable:  new(writable).test,
	}
	if err := checkTemplate(input, c.Nginx); err != nil {
		return input, err
	}
	return input, checkLuaFiles(input, files.Lua())
}

// streamOf returns the program's support for TCP and UDP services.
func streamOf(program *nginx.Nginx) options.Stream {
	switch {
	case program.Has("stream_lua"):
		return options.LuaStream
	case program.Has("stream"):
		return options.PlainStream
	}
	return options.NoStream
}

// modulesFor returns the modules that our nginx.conf needs, and those that snippets and templates
// for ingress-nginx's image use.
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

// listener returns the proxy that listens on the HTTPS port in place of nginx; nil if nginx
// listens.
func listener(c Config) *passthrough.Proxy {
	if !c.Options.EnableSSLPassthrough {
		return nil
	}
	return &passthrough.Proxy{Log: c.Log, Control: avoidProtectedPorts(c.Options.Ports)}
}
