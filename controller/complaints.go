package controller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/model"
)

// notTaken is the reason of Events about what nginx's Lua did not take.
const notTaken = "DynamicConfigurationFailed"

// dictionaries hold what is POSTed to a path. Their sizes are the user's.
var dictionaries = map[string]string{
	"/configuration/backends": "configuration_data",
	"/configuration/servers":  "certificate_data or certificate_servers",
}

// tellComplaint tells what nginx's Lua said against what it was sent: each
// time in the metric, the first time in the log and as an Event on our pod.
func (c *controller) tellComplaint(complaint apply.Complaint) {
	c.Metrics.Complained()
	if c.complaints[complaint] {
		return
	}
	c.complaints[complaint] = true
	finding := c.about(complaint)
	c.Log.Warn("finding", "what", finding.String())
	c.events.Event(c.Pod, corev1.EventTypeWarning, notTaken, finding.Key+": "+finding.Reason)
}

// settle forgets what was said against what nginx has taken now: when it is
// said again, it is news.
func (c *controller) settle(posts []apply.Post) {
	for _, post := range posts {
		for complaint := range c.complaints {
			if complaint.Path == post.Path {
				delete(c.complaints, complaint)
			}
		}
	}
}

// about is a complaint as a finding about the sizes of dictionaries.
func (c *controller) about(complaint apply.Complaint) model.Finding {
	reason := fmt.Sprintf("nginx says of what was sent to %s: %s", complaint.Path, complaint.Text)
	if dictionary := dictionaries[complaint.Path]; dictionary != "" {
		reason += "; what did not fit is not served: make " + dictionary + " larger"
	}
	return model.Finding{Object: "ConfigMap " + c.ConfigMap.String(), Key: "lua-shared-dicts", Reason: reason}
}
