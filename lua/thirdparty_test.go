package lua_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"text/template"

	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/lua"
)

// theirConf is an nginx.conf as a template for ingress-nginx's image renders it. It uses only the
// entry scripts of the Lua code, under /etc/nginx, and sets the variables that they need. The test
// only adds a root before the paths.
var theirConf = template.Must(template.New("nginx.conf").Parse(`
{{range .Modules}}load_module {{.}};
{{end}}
pid {{.Root}}/nginx.pid;
daemon off;
worker_processes 2;
error_log {{.Root}}/error.log notice;
events { multi_accept on; worker_connections 1024; }
http {
    lua_package_path "{{.Root}}/etc/nginx/lua/?.lua;;";
    lua_shared_dict balancer_ewma 10M;
    lua_shared_dict balancer_ewma_last_touched_at 10M;
    lua_shared_dict balancer_ewma_locks 1024k;
    lua_shared_dict certificate_data 20M;
    lua_shared_dict certificate_servers 5M;
    lua_shared_dict configuration_data 20M;
    lua_shared_dict ocsp_response_cache 5M;
    lua_shared_dict luaconfig 5m;
    init_by_lua_file {{.Root}}/etc/nginx/lua/ngx_conf_init.lua;
    init_worker_by_lua_file {{.Root}}/etc/nginx/lua/ngx_conf_init_worker.lua;
    client_body_temp_path {{.Root}}/body;
    proxy_temp_path {{.Root}}/proxy;
    fastcgi_temp_path {{.Root}}/fastcgi;
    uwsgi_temp_path {{.Root}}/uwsgi;
    scgi_temp_path {{.Root}}/scgi;
    access_log off;
    uninitialized_variable_warn off;
    proxy_ssl_session_reuse on;
    upstream upstream_balancer {
        server 0.0.0.1;
        balancer_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_balancer.lua;
        keepalive 320;
        keepalive_timeout 60s;
        keepalive_requests 10000;
    }
    server {
        server_name _;
        listen {{.HTTP}} default_server reuseport backlog=511;
        listen {{.HTTPS}} default_server reuseport backlog=511 ssl;
        set $proxy_upstream_name "-";
        ssl_certificate {{.Fallback}};
        ssl_certificate_key {{.Fallback}};
        ssl_certificate_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_certificate.lua;
        location / {
            set $namespace "";
            set $ingress_name "";
            set $service_name "";
            set $location_path "";
            set $proxy_upstream_name "upstream-default-backend";
            log_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_log.lua;
            return 404;
        }
    }
    server {
        server_name www.shop.example;
        listen {{.HTTP}};
        listen {{.HTTPS}} ssl;
        ssl_certificate_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_certificate.lua;
        ssl_certificate {{.Fallback}};
        ssl_certificate_key {{.Fallback}};
        set_by_lua_file $redirect_to {{.Root}}/etc/nginx/lua/nginx/ngx_srv_redirect.lua shop.example;
        return 308 $redirect_to;
    }
    server {
        server_name shop.example;
        listen {{.HTTP}};
        listen {{.HTTPS}} ssl;
        set $proxy_upstream_name "-";
        ssl_certificate {{.Fallback}};
        ssl_certificate_key {{.Fallback}};
        ssl_certificate_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_certificate.lua;
        location = /_external-auth-Lw {
            internal;
            set $tmp_cache_key '$http_authorization';
            set $cache_key '';
            rewrite_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_rewrite_auth.lua;
            if ($http_authorization = "") { return 401; }
            proxy_pass http://{{.Status}}/is-dynamic-lb-initialized;
        }
        location /private/ {
            set $auth_cookie '';
            set $auth_path '/_external-auth-Lw';
            set $auth_keepalive_share_vars 'false';
            set $auth_response_headers 'X-None,Content-Type';
            set $authHeader0 '';
            set $authHeader1 '';
            access_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_external_auth.lua;
            add_header X-Auth-Answer $authHeader1;
            set $proxy_upstream_name "default-shop-80";
            proxy_pass http://upstream_balancer;
        }
        location / {
            set $namespace "default";
            set $ingress_name "shop";
            set $service_name "shop";
            set $service_port "80";
            set $location_path "/";
            set $global_rate_limit_exceeding n;
            set $force_ssl_redirect "false";
            set $ssl_redirect "true";
            set $force_no_ssl_redirect "false";
            set $preserve_trailing_slash "false";
            set $use_port_in_redirects "false";
            rewrite_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_rewrite.lua;
            header_filter_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_srv_hdr_filter.lua;
            log_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_log_block.lua;
            set $balancer_ewma_score -1;
            set $proxy_upstream_name "default-shop-80";
            set $proxy_host $proxy_upstream_name;
            set $pass_access_scheme $scheme;
            set $pass_server_port $server_port;
            set $best_http_host $http_host;
            set $pass_port $pass_server_port;
            set $proxy_alternative_upstream_name "";
            proxy_set_header Host $best_http_host;
            proxy_set_header X-Forwarded-Host $best_http_host;
            proxy_set_header X-Forwarded-Port $pass_port;
            proxy_set_header X-Forwarded-Proto $pass_access_scheme;
            proxy_http_version 1.1;
            proxy_next_upstream error timeout;
            proxy_next_upstream_tries 3;
            proxy_pass http://upstream_balancer;
            proxy_redirect off;
        }
    }
    server {
        listen {{.Status}};
        set $proxy_upstream_name "internal";
        keepalive_timeout 0;
        gzip off;
        access_log off;
        location /is-dynamic-lb-initialized {
            content_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_is_dynamic_lb_initialized.lua;
        }
        location /configuration {
            client_max_body_size 21M;
            client_body_buffer_size 21M;
            proxy_buffering off;
            content_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_configuration.lua;
        }
        location / { return 404; }
    }
}
`))

// startTheirs starts nginx with theirConf and our Lua. It also returns the address of the HTTPS
// servers.
func startTheirs(t *testing.T) (s *site, https string) {
	t.Helper()
	program, modules := nginxtest.Find(t, "http_lua")
	s = &site{t: t, Root: nginxtest.Folder(t), HTTP: nginxtest.FreeAddress(t), Status: nginxtest.FreeAddress(t)}
	https = nginxtest.FreeAddress(t)
	if err := lua.Write(s.Root + "/etc/nginx/lua"); err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(s.Status, ":")
	s.write(s.Root+"/etc/nginx/lua/cfg.json", fmt.Appendf(nil, `{"enable_metrics":true,"enable_ocsp":false,"hsts":true,"hsts_include_subdomains":false,
"hsts_max_age":"31536000","hsts_preload":false,"http_redirect_code":308,"is_ssl_passthrough_enabled":false,
"listen_ports":{"https":"443","ssl_proxy":"442","status_port":%q},"monitor_batch_max_size":10000,"use_forwarded_headers":false,"use_proxy_protocol":false}`, port))
	var conf bytes.Buffer
	if err := theirConf.Execute(&conf, map[string]any{
		"Root": s.Root, "Modules": modules, "HTTP": s.HTTP, "HTTPS": https, "Status": s.Status, "Fallback": certificate(t),
	}); err != nil {
		t.Fatal(err)
	}
	s.write(s.Root+"/nginx.conf", conf.Bytes())
	s.nginx = nginxtest.StartFile(t, program, s.Root+"/nginx.conf", s.Root+"/error.log")
	t.Cleanup(s.end)
	s.expectLog("error while sending metrics") // nothing listens on the socket here
	s.expectLog("failed to create ephemeral")
	s.expectLog("unix:/tmp/nginx/prometheus-nginx.socket failed")
	return s, https
}

// exchange is a request to theirConf, and the expected parts of its response.
type exchange struct {
	scheme, host, path, authorization string

	status int
	header map[string]string // patterns
	body   string            // part of it
}

func (e exchange) check(t *testing.T, addresses map[string]string) {
	t.Helper()
	got := e.send(t, addresses)
	if got.Status != e.status || !strings.Contains(got.Body, e.body) {
		t.Errorf("status %d, want %d; body %q, want %q", got.Status, e.status, got.Body, e.body)
	}
	for name, pattern := range e.header {
		if !regexp.MustCompile(pattern).MatchString(got.Header.Get(name)) {
			t.Errorf("%s: %q, want %s", name, got.Header.Get(name), pattern)
		}
	}
}

// send sends the request to the address of its scheme, over a connection of its own.
func (e exchange) send(t *testing.T, addresses map[string]string) nginxtest.Answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.scheme+"://"+addresses[e.scheme]+e.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = e.host
	if e.authorization != "" {
		request.Header.Set("Authorization", e.authorization)
	}
	return nginxtest.Do(t, nginxtest.Client(&http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: "shop.example"},
	}), request)
}

var withoutCertificates = map[string]exchange{
	"another host":          {"http", "other.example", "/", "", 404, nil, ""},
	"without authorization": {"http", "shop.example", "/private/", "", 401, nil, ""},
	"with authorization":    {"http", "shop.example", "/private/", "me", 200, map[string]string{"X-Pod": ".", "X-Auth-Answer": "."}, ""},
	"www":                   {"http", "www.shop.example", "/a?b", "", 308, map[string]string{"Location": `^http://shop\.example.*/a\?b$`}, ""},
}

var withCertificates = map[string]exchange{
	"to https":   {"http", "shop.example", "/x/", "", 308, map[string]string{"Location": "^https://shop.example/x$"}, ""},
	"over https": {"https", "shop.example", "/", "", 200, map[string]string{"X-Pod": ".", "Strict-Transport-Security": "^max-age=31536000$"}, "Proto https"},
}

func TestOurLuaUnderTheirConf(t *testing.T) {
	t.Parallel()
	s, https := startTheirs(t)
	addresses := map[string]string{"http": s.HTTP, "https": https}
	s.wantCall("POST", "/configuration/backends", encode(t, []backend{{Name: "default-shop-80", LoadBalance: "ewma", Endpoints: pods(t, 3)}}), http.StatusCreated, "")
	s.wantCall("GET", "/is-dynamic-lb-initialized", "", http.StatusOK, "OK\n")
	s.nginx.Await("a response of a pod from each worker", func() bool {
		for range 8 {
			if (exchange{scheme: "http", host: "shop.example", path: "/"}).send(t, addresses).Header.Get("X-Pod") == "" {
				return false
			}
		}
		return true
	})
	for name, e := range withoutCertificates {
		t.Run(name, func(t *testing.T) { e.check(t, addresses) })
	}

	if status, text := s.postServers(map[string]string{"uid": makeCertificate(t, 77, "shop.example")}, map[string]string{"shop.example": "uid"}); status != http.StatusCreated {
		t.Fatal(status, text)
	}
	if got := serial(https, "shop.example"); got != 77 {
		t.Errorf("got certificate %d", got)
	}
	for name, e := range withCertificates {
		t.Run(name, func(t *testing.T) { e.check(t, addresses) })
	}
}
