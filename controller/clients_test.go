package controller_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// nginx sends the client's address to pods. It depends on the headers of a proxy in front of nginx.
func TestClientAddress(t *testing.T) {
	t.Parallel()
	r := launch(t, true, func(r *running) {
		r.deploy("web", serve(t, "127.88.1.1", echo("web")))
		r.route("web", "web.example", "/", "web")
	})
	r.log.next("ready")
	update := r.client.CoreV1().ConfigMaps("default").Update
	for _, test := range []struct {
		config map[string]string
		proxy  string // the first line of the connection
		want   []string
	}{
		{nil, "", []string{"X-Forwarded-For: 127.0.0.1", "X-Real-Ip: 127.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: web.example", "X-Original-Forwarded-For: 192.0.2.7"}},
		{map[string]string{"enable-real-ip": "true"}, "", []string{"X-Forwarded-For: 192.0.2.7", "X-Real-Ip: 192.0.2.7", "X-Forwarded-Proto: http"}},
		{map[string]string{"use-forwarded-headers": "true"}, "", []string{"X-Forwarded-For: 192.0.2.7", "X-Real-Ip: 192.0.2.7", "X-Forwarded-Proto: https", "X-Forwarded-Host: outside.example"}},
		{map[string]string{"use-forwarded-headers": "true", "proxy-real-ip-cidr": "198.51.100.0/24"}, "", []string{"X-Forwarded-For: 127.0.0.1", "X-Real-Ip: 127.0.0.1"}},
		{map[string]string{"use-forwarded-headers": "true", "compute-full-forwarded-for": "true"}, "", []string{"X-Forwarded-For: 192.0.2.7, 127.0.0.1", "X-Real-Ip: 192.0.2.7"}},
		{map[string]string{"use-proxy-protocol": "true", "forwarded-for-proxy-protocol-header": "X-By-Proxy"}, "PROXY TCP4 192.0.2.9 192.0.2.10 4711 80\r\n",
			[]string{"X-Forwarded-For: 192.0.2.9", "X-Real-Ip: 192.0.2.9", "X-By-Proxy: 192.0.2.9"}},
	} {
		r.configure(test.config, update)
		lacks, got := "", ""
		for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			got = r.say(test.proxy + "GET / HTTP/1.1\r\nHost: web.example\r\nX-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: outside.example\r\nConnection: close\r\n\r\n")
			if lacks = lacking(got, test.want); lacks == "" {
				break
			}
		}
		if lacks != "" {
			t.Errorf("%v: no %q in\n%s", test.config, lacks, got)
		}
	}
}

func lacking(text string, lines []string) string {
	for _, line := range lines {
		if !strings.Contains(text, line+"\r\n") {
			return line
		}
	}
	return ""
}

// say writes a text to nginx's HTTP port and returns the body of the answer.
func (r *running) say(text string) string {
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", r.ports.HTTP))
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(limit))
	io.WriteString(conn, text)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}
