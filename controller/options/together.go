package options

import "fmt"

// fit drops values that nginx does not accept together, with a finding for each.
func fit(config *Config, defaults Config) []Finding {
	var findings []Finding
	if config.EnableSyslog && config.SyslogHost == "" {
		config.EnableSyslog = false
		findings = append(findings, Finding{Key: "enable-syslog", Value: "true", Reason: "there is no syslog-host", Used: "false"})
	}
	if reason := buffers(*config).Misfit(); reason != "" {
		findings = append(findings, Finding{
			Key: "proxy-buffer-size", Value: fmt.Sprintf("%+v", buffers(*config)), Reason: reason,
			Used: fmt.Sprintf("%+v", buffers(defaults)),
		})
		config.ProxyBuffersNumber, config.ProxyBufferSize = defaults.ProxyBuffersNumber, defaults.ProxyBufferSize
		config.ProxyBusyBuffersSize, config.ProxyMaxTempFileSize = defaults.ProxyBusyBuffersSize, defaults.ProxyMaxTempFileSize
	}
	return findings
}

func buffers(c Config) Buffers {
	return Buffers{c.ProxyBuffersNumber, c.ProxyBufferSize, c.ProxyBusyBuffersSize, c.ProxyMaxTempFileSize}
}
