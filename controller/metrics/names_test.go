package metrics

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"windtunnel.dev/controller/conf"
)

// theirs lists all metrics of ingress-nginx with their types and labels, without the prefix of the
// names. CC means the labels of the controller, RL those of a request.
const theirs = `
requests counter CC RL
request_duration_seconds histogram CC RL
connect_duration_seconds histogram CC RL
header_duration_seconds histogram CC RL
response_duration_seconds histogram CC RL
request_size histogram CC RL
response_size histogram CC RL
bytes_sent histogram CC RL
build_info gauge CC release build repository
config_hash gauge CC
config_last_reload_successful gauge CC
config_last_reload_successful_timestamp_seconds gauge CC
success counter CC
errors counter CC
check_success counter CC namespace ingress
check_errors counter CC namespace ingress
ssl_expire_time_seconds gauge namespace class host secret_name identifier
ssl_certificate_info gauge namespace class host secret_name identifier issuer_organization issuer_common_name serial_number public_key_algorithm
leader_election_status gauge CC name
orphan_ingress gauge CC namespace ingress type
admission_tested_ingresses gauge CC
admission_tested_duration gauge CC
admission_render_ingresses gauge CC
admission_render_duration gauge CC
admission_config_size gauge CC
admission_roundtrip_duration gauge CC
nginx_process_connections_total counter CC state
nginx_process_requests_total counter CC
nginx_process_connections gauge CC state
nginx_process_num_procs gauge CC
nginx_process_resident_memory_bytes gauge CC
nginx_process_virtual_memory_bytes gauge CC
nginx_process_oldest_start_time_seconds gauge CC
nginx_process_cpu_seconds_total counter CC
nginx_process_read_bytes_total counter CC
nginx_process_write_bytes_total counter CC
`

// own lists the metrics that ingress-nginx does not have.
const own = `
reload_phase_duration_seconds histogram CC phase
dynamic_complaints_total counter CC
lua_dictionary_capacity_bytes gauge CC dictionary
lua_dictionary_free_bytes gauge CC dictionary
`

var shortLabels = map[string]string{
	"CC": "controller_namespace controller_class controller_pod",
	"RL": "status method path namespace ingress service canary host",
}

func TestNamesTypesAndLabels(t *testing.T) {
	m := New(options)
	stub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "Active connections: 3 \nserver accepts handled requests\n 10 9 27 \nReading: 0 Writing: 1 Waiting: 2 \n")
	}))
	t.Cleanup(stub.Close)
	lua := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"configuration_data":{"capacity":20971520,"free":20447232}}`)
	}))
	t.Cleanup(lua.Close)
	m.Nginx(stub.URL, lua.URL, func() []int { return []int{1} })
	m.WillServe(serving("web.example"))
	request := record()
	request.ConnectTime = 1
	m.Requests([]Record{request})
	m.Loaded(conf.Text{}, time.Unix(0, 0))
	m.Phase(Test, 1)
	m.Complained()
	m.Leader(true)
	m.Certificates([]Certificate{{Host: "web.example"}})
	m.Orphans([]Orphan{{"shop", "web", NoService}})
	m.Admitted(Admission{Namespace: "shop", Ingress: "web"})
	m.Admitted(Admission{Namespace: "shop", Ingress: "web", Denied: true})

	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, family := range families {
		if name, ours := strings.CutPrefix(family.GetName(), namespace+"_"); ours {
			got[name] = describe(family)
		}
	}
	want := make(map[string]string)
	for line := range strings.Lines(theirs + own) {
		if fields := strings.Fields(line); len(fields) > 1 {
			want[fields[0]] = fields[1] + " " + sorted(fields[2:])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s is %q, want %q", name, got[name], want[name])
		}
	}
	for name := range got {
		if want[name] == "" {
			t.Errorf("%s is neither a metric of ingress-nginx nor listed as ours", name)
		}
	}
}

// describe returns the type of a metric and the labels that all its series have.
func describe(family *dto.MetricFamily) string {
	var labels []string
	for _, pair := range family.GetMetric()[0].GetLabel() {
		labels = append(labels, pair.GetName())
	}
	return strings.ToLower(family.GetType().String()) + " " + sorted(labels)
}

func sorted(labels []string) string {
	var all []string
	for _, label := range labels {
		if long := shortLabels[label]; long != "" {
			label = long
		}
		all = append(all, strings.Fields(label)...)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
