package observe

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/model"
)

// notTaken is the reason of Events about configuration that nginx's Lua refused.
const notTaken = "DynamicConfigurationFailed"

// dictionaries are the shared dictionaries that hold what is sent to a path. The user sets their
// sizes.
var dictionaries = map[string]string{
	"/configuration/backends": "configuration_data",
	"/configuration/servers":  "certificate_data or certificate_servers",
}

// Complaint reports a complaint of nginx's Lua about configuration that it was sent: each time in
// the metric, the first time also in the log and as an Event on our pod.
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
	o.Events.Event(o.Pod, corev1.EventTypeWarning, notTaken, finding.Key+": "+finding.Reason)
}

// Posted forgets complaints about what nginx has accepted now, so that a new one is reported.
func (o *Observer) Posted(posts []apply.Post) {
	for _, post := range posts {
		for complaint := range o.complaints {
			if complaint.Path == post.Path {
				delete(o.complaints, complaint)
			}
		}
	}
}

// about returns a complaint as a finding about the sizes of dictionaries.
func (o *Observer) about(complaint apply.Complaint) model.Finding {
	reason := fmt.Sprintf("nginx says of what was sent to %s: %s", complaint.Path, complaint.Text)
	if dictionary := dictionaries[complaint.Path]; dictionary != "" {
		reason += "; what did not fit is not served: make " + dictionary + " larger"
	}
	return model.Finding{Object: "ConfigMap " + o.ConfigMap.String(), Key: "lua-shared-dicts", Reason: reason}
}
