package lua_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/lua"
)

// setup contains a test's changes to the default configuration of a site.
type setup struct {
	Workers       int               // default 2
	Config        map[string]any    // overrides the defaults of cfg.json
	LuaPath       string            // added to lua_package_path, after the lua folder
	Server        string            // additional lines of the server that proxies
	Location      string            // additional lines of the location that proxies
	HTTPBlock     string            // additional lines of the http block
	Configuration string            // additional lines of the location /configuration
	Replace       map[string]string // files of the Lua folder to replace: content by path

	CertificateData   string // size of the dictionary, default 20M
	ConfigurationData string // likewise
}

// site is an nginx that runs our Lua code with a configuration like the controller's. There are two
// differences: the header X-Upstream selects the upstream, and responses name the worker.
type site struct {
	setup
	t         *testing.T
	Root      string // takes the place of / in the paths of ingress-nginx
	HTTP      string // address of the server that proxies
	Status    string // address of the status server
	Modules   []string
	nginx     *nginxtest.Nginx
	unchecked []string // parts of log lines that the test expects
	posts     int
}

var httpBlock = template.Must(template.New("http").Parse(`
keepalive_requests 1000000;
lua_package_path "{{.Root}}/etc/nginx/lua/?.lua;{{.LuaPath}};";
lua_shared_dict luaconfig 5m;
lua_shared_dict configuration_data {{.ConfigurationData}};
lua_shared_dict certificate_data {{.CertificateData}};
lua_shared_dict certificate_servers 5M;
lua_shared_dict ocsp_response_cache 5M;
lua_shared_dict balancer_ewma 10M;
lua_shared_dict balancer_ewma_last_touched_at 10M;
lua_shared_dict balancer_ewma_locks 1M;
uninitialized_variable_warn off;
{{.HTTPBlock}}
init_by_lua_file {{.Root}}/etc/nginx/lua/ngx_conf_init.lua;
init_worker_by_lua_file {{.Root}}/etc/nginx/lua/ngx_conf_init_worker.lua;
upstream upstream_balancer {
server 0.0.0.1;
balancer_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_balancer.lua;
keepalive 320;
}
server {
listen {{.HTTP}} reuseport;
add_header X-Worker $pid always;
{{.Server}}
location / {
set $force_ssl_redirect $http_x_force_ssl_redirect;
set $force_no_ssl_redirect $http_x_force_no_ssl_redirect;
set $ssl_redirect true;
set $preserve_trailing_slash $http_x_preserve_trailing_slash;
set $use_port_in_redirects $http_x_use_port_in_redirects;
set $proxy_upstream_name $http_x_upstream;
set $proxy_alternative_upstream_name "";
set $location_path /;
set $balancer_ewma_score -1;
{{.Location}}
set $pass_access_scheme $scheme;
set $pass_server_port $server_port;
set $pass_port $server_port;
set $best_http_host $http_host;
rewrite_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_rewrite.lua;
header_filter_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_srv_hdr_filter.lua;
log_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_log_block.lua;
proxy_http_version 1.1;
proxy_set_header Connection "";
proxy_set_header X-Forwarded-Host $best_http_host;
proxy_set_header X-Forwarded-Port $pass_port;
proxy_set_header X-Forwarded-Proto $pass_access_scheme;
proxy_next_upstream error timeout;
proxy_next_upstream_tries 3;
proxy_connect_timeout 5s;
proxy_pass http://upstream_balancer;
}
}
server {
listen {{.Status}};
location /is-dynamic-lb-initialized {
content_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_is_dynamic_lb_initialized.lua;
}
location /configuration {
client_max_body_size 21m;
client_body_buffer_size 16k;
{{.Configuration}}
content_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_configuration.lua;
}
}
`))

// start runs nginx with our Lua code until the test ends. The test fails if nginx has logged an
// unexpected problem, and is skipped without nginx or its Lua module. It runs in parallel with
// others, because it mostly waits for workers to poll.
func start(t *testing.T, with setup) *site {
	t.Helper()
	t.Parallel()
	program, modules := nginxtest.Find(t, "http_lua")
	if with.Workers == 0 {
		with.Workers = 2
	}
	if with.CertificateData == "" {
		with.CertificateData = "20M"
	}
	if with.ConfigurationData == "" {
		with.ConfigurationData = "20M"
	}
	s := &site{setup: with, t: t, Root: nginxtest.Folder(t), HTTP: nginxtest.FreeAddress(t), Status: nginxtest.FreeAddress(t), Modules: modules}
	s.install()

	s.nginx = nginxtest.StartFile(t, program, s.Root+"/nginx.conf", s.Root+"/error.log")
	t.Cleanup(s.end)
	s.nginx.AwaitWorkers("all of them", func(w []nginx.Worker) bool { return len(w) == s.Workers })
	return s
}

func (s *site) install() {
	s.t.Helper()
	luaFolder := s.Root + "/etc/nginx/lua"
	if err := lua.Write(luaFolder); err != nil {
		s.t.Fatal(err)
	}
	for name, text := range s.Replace {
		if err := os.MkdirAll(filepath.Dir(luaFolder+"/"+name), 0o755); err != nil {
			s.t.Fatal(err)
		}
		s.write(luaFolder+"/"+name, []byte(text))
	}
	_, statusPort, _ := net.SplitHostPort(s.Status)
	config := map[string]any{
		"enable_metrics": false, "use_forwarded_headers": false, "use_proxy_protocol": false,
		"is_ssl_passthrough_enabled": false, "http_redirect_code": 308, "enable_ocsp": false,
		"listen_ports":           map[string]string{"https": "8443", "status_port": statusPort, "ssl_proxy": "442"},
		"monitor_batch_max_size": 10000, "hsts": true, "hsts_max_age": "31536000",
		"hsts_include_subdomains": true, "hsts_preload": false,
	}
	maps.Copy(config, s.Config)
	text, err := json.Marshal(config)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(luaFolder+"/cfg.json", text)

	for _, block := range []*string{&s.Server, &s.HTTPBlock, &s.Location} {
		*block = strings.ReplaceAll(*block, "{{.Root}}", s.Root)
	}
	var block strings.Builder
	if err := httpBlock.Execute(&block, s); err != nil {
		s.t.Fatal(err)
	}
	nginxtest.Conf{Modules: s.Modules, Workers: s.Workers, HTTP: block.String()}.Write(s.t, s.Root)
}

func (s *site) write(path string, text []byte) {
	s.t.Helper()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// expectLog allows log lines that contain part.
func (s *site) expectLog(part string) { s.unchecked = append(s.unchecked, part) }

var problem = regexp.MustCompile(`(?m)^.*\[(?:warn|error|crit|alert|emerg)\].*$`)

func (s *site) end() {
	s.nginx.Quit()
	for _, line := range problem.FindAllString(s.nginx.ErrorLog(), -1) {
		expected := func(part string) bool { return strings.Contains(line, part) }
		if !slices.ContainsFunc(s.unchecked, expected) {
			s.t.Errorf("nginx logged: %s", line)
		}
	}
}

// call sends a request to the status server.
func (s *site) call(method, uri, body string) (status int, text string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.Status+uri, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Close = true // lets any worker answer the next request
	got := nginxtest.Do(s.t, http.DefaultClient, request)
	return got.Status, got.Body
}

// backend is a backend as the controller POSTs it, with the fields that tests need.
type backend struct {
	Name        string     `json:"name"`
	Service     any        `json:"service,omitempty"`
	Affinity    any        `json:"sessionAffinityConfig,omitempty"`
	HashBy      any        `json:"upstreamHashByConfig,omitempty"`
	Policy      any        `json:"trafficShapingPolicy,omitempty"`
	Canaries    []string   `json:"alternativeBackends,omitempty"`
	LoadBalance string     `json:"load-balance,omitempty"`
	Endpoints   []endpoint `json:"endpoints,omitempty"`
}

type endpoint struct {
	Address string `json:"address"`
	Port    string `json:"port"`
}

// post POSTs backends and one more, the mark, by which awaitMark detects that a worker serves them.
// It returns the name of the mark.
func (s *site) post(backends ...backend) (mark string) {
	s.t.Helper()
	s.posts++
	mark = fmt.Sprint("mark-", s.posts)
	body, err := json.Marshal(append(backends, backend{Name: mark, Endpoints: pods(s.t, 1)}))
	if err != nil {
		s.t.Fatal(err)
	}
	if status, text := s.call(http.MethodPost, "/configuration/backends", string(body)); status != http.StatusCreated {
		s.t.Fatalf("POST of backends: %d %s", status, text)
	}
	return mark
}

// serve posts backends and waits until every worker serves them.
func (s *site) serve(backends ...backend) []*worker {
	s.t.Helper()
	mark := s.post(backends...)
	workers := s.workers(mark)
	s.awaitMark(workers, mark)
	return workers
}

func (s *site) awaitMark(workers []*worker, mark string) {
	s.t.Helper()
	for _, w := range workers {
		s.nginx.Await(fmt.Sprintf("%s at worker %d", mark, w.pid), func() bool {
			return w.get("X-Upstream", mark).status == http.StatusOK
		})
	}
}
