package options

import "fmt"

// dropConflicts drops values that nginx does not accept together, with a problem for each.
func dropConflicts(config *Config, defaults Config) []Problem {
	var problems []Problem
	if config.EnableSyslog && config.SyslogHost == "" {
		config.EnableSyslog = false
		problems = append(problems, Problem{Key: "enable-syslog", Value: "true", Reason: "there is no syslog-host", Used: "false"})
	}
	if reason := buffers(*config).Misfit(); reason != "" {
		problems = append(problems, Problem{
			Key: "proxy-buffer-size", Value: fmt.Sprintf("%+v", buffers(*config)), Reason: reason,
			Used: fmt.Sprintf("%+v", buffers(defaults)),
		})
		config.ProxyBuffersNumber, config.ProxyBufferSize = defaults.ProxyBuffersNumber, defaults.ProxyBufferSize
		config.ProxyBusyBuffersSize, config.ProxyMaxTempFileSize = defaults.ProxyBusyBuffersSize, defaults.ProxyMaxTempFileSize
	}
	return problems
}

func buffers(c Config) Buffers {
	return Buffers{c.ProxyBuffersNumber, c.ProxyBufferSize, c.ProxyBusyBuffersSize, c.ProxyMaxTempFileSize}
}
