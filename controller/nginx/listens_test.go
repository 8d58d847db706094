package nginx_test

import (
	"strings"
	"testing"

	"windtunnel.dev/controller/nginx"
)

func TestCheckStatus(t *testing.T) {
	for conf, fits := range map[string]bool{
		"http { server { listen 127.0.0.1:10246; } }":                   true,
		"server {\n  listen\t10246 reuseport;\n}":                       true,
		"server { listen [::1]:10246; }":                                true,
		"server { listen \"127.0.0.1:10246\"; }":                        true,
		"server { listen 127.0.0.1:10240-10250; }":                      true,
		"include /etc/nginx/mine.conf; server { listen 80; }":           true, // mine.conf may listen there
		"server { listen 80; listen [::]:80; }":                         false,
		"server { listen 127.0.0.1; listen unix:/s.sock; }":             false,
		"server {\n  # listen 127.0.0.1:10246;\n}":                      false,
		"server { listen 110246; proxy_pass http://127.0.0.1:10246; }":  false,
		"http { include /etc/nginx/mime.types; server { listen 80; } }": false,
		"server { listen 80-90; }":                                      false,
	} {
		err := nginx.CheckStatus([]byte(conf), 10246)
		if (err == nil) != fits {
			t.Errorf("%s: %v", conf, err)
		}
		if err != nil && !strings.Contains(err.Error(), "`listen 127.0.0.1:10246;`") {
			t.Errorf("%s: %v", conf, err)
		}
	}
}
