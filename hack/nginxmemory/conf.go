package main

import (
	"regexp"
	"strings"

	"windtunnel.dev/controller/model"
)

// configuration is an nginx.conf of our template, divided into the http block around the hosts and the
// hosts.
type configuration struct {
	top, bottom string
	hosts       []string // the server blocks; the first serves all unknown hosts
}

const (
	startMark = "\t## start server "
	endMark   = "\t## end server "
)

func parse(text string) configuration {
	parts := strings.Split(text, startMark)
	c := configuration{top: parts[0]}
	for _, part := range parts[1:] {
		c.hosts = append(c.hosts, startMark+part)
	}
	last := &c.hosts[len(c.hosts)-1]
	end := strings.Index(*last, endMark)
	end += strings.Index((*last)[end:], "\n") + 1
	*last, c.bottom = (*last)[:end], (*last)[end:]
	return c
}

func (c configuration) String() string { return c.top + strings.Join(c.hosts, "") + c.bottom }

func (c configuration) locations() int {
	return strings.Count(strings.Join(c.hosts, ""), "\n\t\tlocation ")
}

// part is a part of the configuration.
type part struct {
	name   string
	lines  *regexp.Regexp // of the part, in a server block; nil: the whole block
	ofHTTP *regexp.Regexp // that the http block has for all hosts; nil: none
}

// parts are the parts of hosts, in an order in which nginx accepts the rest.
var parts = []part{
	{name: "settings for requests to pods", lines: regexp.MustCompile(`(?m)^\t\t\t(proxy|client|port_in_redirect).*\n`)},
	{name: "Lua code of locations", lines: regexp.MustCompile(`(?m)^\t\t\t\w+_by_lua_file .*\n`)},
	{name: "variables of locations (`set`)", lines: regexp.MustCompile(`(?m)^\t\t\tset .*\n`)},
	{name: "locations without directives", lines: regexp.MustCompile(`(?ms)^\t\tlocation .*?^\t\t}\n`)},
	{
		name:   "TLS of hosts",
		lines:  regexp.MustCompile(`(?m)^\t\t(listen .* ssl.*|ssl_certificate.*)\n`),
		ofHTTP: regexp.MustCompile(`(?m)^\tssl_certificate.*\n`),
	},
	{name: "hosts without directives"},
}

// remove returns a configuration without the part. The host of all unknown hosts keeps it, because the http
// block reads variables of its locations.
func (p part) remove(c configuration) configuration {
	kept := configuration{top: c.top, bottom: c.bottom, hosts: []string{c.hosts[0]}}
	if p.ofHTTP != nil {
		const begin = "server {\n"
		own := strings.Join(p.ofHTTP.FindAllString(c.top, -1), "")
		kept.top = p.ofHTTP.ReplaceAllString(c.top, "")
		kept.hosts[0] = strings.Replace(c.hosts[0], begin, begin+own, 1)
	}
	if p.lines != nil {
		for _, host := range c.hosts[1:] {
			kept.hosts = append(kept.hosts, p.lines.ReplaceAllString(host, ""))
		}
	}
	return kept
}

var (
	headers = regexp.MustCompile(`(?m)^\tproxy_set_header .*\n`)
	passes  = regexp.MustCompile(`(?m)^\t\t\tproxy_pass `)
)

// withHeadersEverywhere returns a configuration in which each location sets the request headers that it
// inherits from the http block.
func (c configuration) withHeadersEverywhere() configuration {
	own := strings.ReplaceAll(strings.Join(headers.FindAllString(c.top, -1), ""), "$", "$$") // $ begins a group in replacements
	repeated := configuration{top: headers.ReplaceAllString(c.top, ""), bottom: c.bottom}
	for _, host := range c.hosts {
		repeated.hosts = append(repeated.hosts, passes.ReplaceAllString(host, own+"$0"))
	}
	return repeated
}

// isCatchAll reports whether the first host is the one for all unknown hosts, as our template writes it.
func (c configuration) isCatchAll() bool {
	return strings.HasPrefix(c.hosts[0], startMark+model.DefaultServerName+"\n")
}
