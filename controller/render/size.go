package render

import (
	"math/bits"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

const (
	// leastBacklog is nginx's own default on Linux.
	leastBacklog = 511
	// reservedFiles is the number of files reserved for nginx's logs and libraries, as in
	// ingress-nginx.
	reservedFiles = 1024
)

// sized returns the configuration with the sizes that depend on the machine and on the model, and
// with local paths.
func sized(config options.Config, m *model.Model, in Input) options.Config {
	if config.MaxWorkerOpenFiles == 0 {
		config.MaxWorkerOpenFiles = max(in.FileLimit-reservedFiles, reservedFiles)
	}
	if config.MaxWorkerConnections == 0 {
		config.MaxWorkerConnections = config.MaxWorkerOpenFiles * 3 / 4
	}
	hosts := hostNames(m)
	config.ServerNameHashBucketSize = max(config.ServerNameHashBucketSize, bucketSize(hosts))
	config.ServerNameHashMaxSize = max(config.ServerNameHashMaxSize, nextPowerOf2(hosts.all))
	config.ProxyHeadersHashBucketSize = max(config.ProxyHeadersHashBucketSize, bucketSize(headerNames(m, config)))
	variables := variableNames(m.Servers)
	config.VariablesHashBucketSize = max(config.VariablesHashBucketSize, bucketSize(variables))
	config.VariablesHashMaxSize = max(config.VariablesHashMaxSize, nextPowerOf2(2*variables.number))
	config.MapHashBucketSize = max(config.MapHashBucketSize, bucketSize(mapKeys(config)))
	config.AccessLogPath = in.Options.Path(config.AccessLogPath)
	config.HTTPAccessLogPath = in.Options.Path(config.HTTPAccessLogPath)
	config.StreamAccessLogPath = in.Options.Path(config.StreamAccessLogPath)
	config.ErrorLogPath = in.Options.Path(config.ErrorLogPath)
	return config
}

// names summarizes the keys of one of nginx's hash tables.
type names struct{ number, longest, all int }

func (n *names) add(name string) {
	n.number++
	n.longest = max(n.longest, len(name))
	n.all += len(name)
}

func hostNames(m *model.Model) names {
	var found names
	for _, server := range m.Servers {
		found.add(server.Hostname)
		for _, alias := range server.Aliases {
			found.add(alias)
		}
	}
	for _, redirect := range m.RedirectServers {
		found.add(redirect.From)
	}
	return found
}

// headerNames returns the header names from annotations and the ConfigMap.
func headerNames(m *model.Model, config options.Config) names {
	var found names
	for _, list := range [][]string{config.HideHeaders, config.GlobalAuthResponseHeaders, {config.ForwardedForProxyProtocolHeader}} {
		for _, name := range list {
			found.add(name)
		}
	}
	maps := []map[string]string{m.ProxySetHeaders, m.AddHeaders}
	for _, server := range m.Servers {
		for _, location := range server.Locations {
			maps = append(maps, location.CustomHeaders.Headers, location.ExternalAuth.ProxySetHeaders)
			for _, name := range location.ExternalAuth.ResponseHeaders {
				found.add(name)
			}
		}
	}
	for _, headers := range maps {
		for name := range headers {
			found.add(name)
		}
	}
	return found
}

// variableNames returns the variables that limits.tmpl defines.
func variableNames(servers []*model.Server) names {
	var found names
	for _, limit := range filterRateLimits(servers) {
		found.add("allowlist_" + limit.ID)
		found.add("limit_" + limit.ID)
	}
	return found
}

// mapKeys returns the keys that blocks.tmpl and log.tmpl take from the ConfigMap.
func mapKeys(config options.Config) names {
	var found names
	for _, list := range [][]string{config.BlockUserAgents, config.BlockReferers, config.SkipAccessLogURLs} {
		for _, key := range list {
			found.add(key)
		}
	}
	return found
}

// bucketSize returns the bucket size that the longest name needs: the size of the element (two
// pointers and the aligned name), rounded up to a power of two (ngx_hash_init).
func bucketSize(n names) int {
	const pointers, alignment = 16, 8
	return nextPowerOf2(pointers + (n.longest+2+alignment-1)/alignment*alignment)
}

func nextPowerOf2(n int) int {
	if n <= 1 {
		return 1
	}
	return 1 << bits.Len(uint(n-1))
}
