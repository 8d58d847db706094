package plan

import (
	"strings"
	"testing"
)

func TestWhyBackendChanged(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{
			"endpoints",
			`{"name":"b","endpoints":[{"address":"10.0.0.1","port":"80"},{"address":"10.0.0.2","port":"80"}],"noServer":false}`,
			`{"name":"b","endpoints":[{"address":"10.0.0.2","port":"80"},{"address":"[2001:db8::1]","port":"80"},{"address":"10.0.0.4","port":"80"}],"noServer":false}`,
			"b endpoint 10.0.0.1:80 -> b endpoint [2001:db8::1]:80; + b endpoint 10.0.0.4:80",
		},
		{
			"fields, and the first endpoint",
			`{"load-balance":"ewma","noServer":true,"service":{"spec":{"type":"ClusterIP"}}}`,
			`{"endpoints":[{"address":"10.0.0.1","port":"80"}],"load-balance":"round_robin","noServer":true}`,
			`b.load-balance "ewma" -> b.load-balance "round_robin"; - b.service {"spec":{"type":"ClusterIP"}}; + b endpoint 10.0.0.1:80`,
		},
		{"another order", `{"a":1,"b":2}`, `{"b":2,"a":1}`, ""},
		{"not a JSON object", `{"a":1}`, `[]`, "+ b is not a JSON object: it does not begin with {"},
		{"cut", `{"a":1`, `{}`, "+ b is not a JSON object: "},
		{"endpoints in another form", `{}`, `{"endpoints":{}}`, "+ b endpoint unreadable: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []string
			for _, why := range whyChanged("b", []byte(c.before), []byte(c.after)) {
				all = append(all, why.String())
			}
			got := strings.Join(all, "; ")
			if strings.HasSuffix(c.want, ": ") {
				got = got[:min(len(got), len(c.want))]
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
