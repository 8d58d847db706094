package observe

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/model"
)

// dynamicFailed is the reason of Events about configuration that nginx's Lua rejected.
const dynamicFailed = "DynamicConfigurationFailed"

// dictionaries maps the path of a POST to the shared dictionaries that store its body. The user
// sets their sizes.
var dictionaries = map[string]string{
	"/configuration/backends": "configuration_data",
	"/configuration/servers":  "certificate_data or certificate_servers",
	"stream":                  "tcp_udp_configuration_data",
}

// Complaint reports a complaint of nginx's Lua about configuration that it received. The metric
// counts every complaint. The first of several equal ones is also logged and becomes an Event on
// our pod.
func (o *Observer) Complaint(complaint apply.Complaint) {
	o.Metrics.Complained()
	if o.complaints[complaint] {
		return
	}
	if o.complaints == nil {
		o.complaints = make(map[apply.Complaint]bool)
	}
	o.complaints[complaint] = true
	finding := o.about(complaint)
	o.Log.Warn("finding", "what", finding.String())
	o.Events.Event(o.Pod, corev1.EventTypeWarning, dynamicFailed, finding.Key+": "+finding.Reason)
}

// Posted forgets complaints about POSTs that nginx has now accepted, so that new ones are reported.
func (o *Observer) Posted(posts []apply.Post) {
	for _, post := range posts {
		for complaint := range o.complaints {
			if complaint.Path == post.Path {
				delete(o.complaints, complaint)
			}
		}
	}
}

// about returns a complaint as a finding that suggests a larger dictionary.
func (o *Observer) about(complaint apply.Complaint) model.Finding {
	reason := fmt.Sprintf("nginx complains about what it was sent (%s): %s", complaint.Path, complaint.Text)
	if dictionary := dictionaries[complaint.Path]; dictionary != "" {
		reason += "; the rest does not fit and is not served: make " + dictionary + " larger"
	}
	return model.Finding{Object: "ConfigMap " + o.ConfigMap.String(), Key: "lua-shared-dicts", Reason: reason}
}
