package mutate

import (
	_ "embed"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// traceModule is the name of the Lua module that traces.
const traceModule = "windtunnel_trace"

//go:embed trace.lua
var traceLua string

// Traced returns files of Lua code that write the lines that nginx executes to a log, which ReadTrace
// reads. Tracing begins in the files of ingress-nginx that init_by_lua runs. Lines keep their numbers.
func Traced(files map[string]string, log string) map[string]string {
	all := maps.Clone(files)
	for name, text := range files {
		if slices.Contains([]string{"ngx_conf_init.lua", "ngx_conf_init_stream.lua"}, path.Base(name)) {
			all[name] = `require("` + traceModule + `") ` + text
		}
	}
	all[traceModule+".lua"] = strings.Replace(traceLua, `"LOG"`, strconv.Quote(log), 1)
	return all
}

// ReadTrace reads a log of traced files. Its servers are the hosts of requests.
func ReadTrace(log string, files map[string]string) Reached {
	r := Reached{Everywhere: map[string]bool{}, Servers: map[string]map[string]bool{}}
	names := map[string]string{} // of files, by path
	for text := range strings.Lines(log) {
		host, place, ok := strings.Cut(strings.TrimSuffix(text, "\n"), "\t")
		colon := strings.LastIndexByte(place, ':')
		if !ok || colon < 0 || !strings.HasSuffix(text, "\n") {
			continue
		}
		source := place[:colon]
		name, known := names[source]
		if !known {
			name = fileOf(source, files)
			names[source] = name
		}
		if name == "" {
			continue // a library of nginx
		}
		site := name + place[colon:]
		if host == "" {
			r.Everywhere[site] = true
		} else {
			r.add([]string{strings.ToLower(host)}, map[string]bool{site: true})
		}
	}
	return r
}

// fileOf returns the name of the file at a path, or "" if there is none.
func fileOf(source string, files map[string]string) string {
	for rest := source; rest != ""; {
		if _, ok := files[rest]; ok {
			return rest
		}
		_, after, ok := strings.Cut(rest, "/")
		if !ok {
			return ""
		}
		rest = after
	}
	return ""
}
