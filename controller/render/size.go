package render

import (
	"math/bits"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

const (
	// leastBacklog is nginx's own default on Linux.
	leastBacklog = 511
	// reservedFiles are left to nginx's own logs and libraries, as ingress-nginx does.
	reservedFiles = 1024
)

// sized is the configuration with the sizes that depend on the machine and on
// the hosts, and with paths where they are.
func sized(config options.Config, servers []*model.Server, in Input) options.Config {
	if config.MaxWorkerOpenFiles == 0 {
		config.MaxWorkerOpenFiles = max(in.FileLimit-reservedFiles, reservedFiles)
	}
	if config.MaxWorkerConnections == 0 {
		config.MaxWorkerConnections = config.MaxWorkerOpenFiles * 3 / 4
	}
	longest, all := 0, 0
	for _, server := range servers {
		longest = max(longest, len(server.Hostname))
		all += len(server.Hostname)
	}
	config.ServerNameHashBucketSize = max(config.ServerNameHashBucketSize, bucketSize(longest))
	config.ServerNameHashMaxSize = max(config.ServerNameHashMaxSize, nextPowerOf2(all))
	config.AccessLogPath = in.Options.Path(config.AccessLogPath)
	config.HTTPAccessLogPath = in.Options.Path(config.HTTPAccessLogPath)
	config.StreamAccessLogPath = in.Options.Path(config.StreamAccessLogPath)
	config.ErrorLogPath = in.Options.Path(config.ErrorLogPath)
	return config
}

// bucketSize is what nginx needs to hash a server name of that length: the
// element (two pointers and the name, aligned), up to a power of two.
func bucketSize(nameLength int) int {
	const pointers, alignment = 16, 8
	return nextPowerOf2(pointers + (nameLength+2+alignment-1)/alignment*alignment)
}

func nextPowerOf2(n int) int {
	if n <= 1 {
		return 1
	}
	return 1 << bits.Len(uint(n-1))
}
