package pool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// errRefused means that a process refuses an order: it runs another pod, or cannot do it.
var errRefused = errors.New("it refuses")

// orderTimeout bounds the time of one order. A pod's last answers may take five seconds.
const orderTimeout = 15 * time.Second

// timeoutFor is shorter for orders that renew a lease: the next one comes soon.
func (o order) timeoutFor(verb string) time.Duration {
	if verb == "keep" {
		return min(orderTimeout, o.Lease/4)
	}
	return orderTimeout
}

// controlClient sends orders to the processes of a pool: through the API server, which works
// wherever kubectl works, or directly to their addresses.
type controlClient struct {
	client *http.Client
	base   func(pod string, address netip.Addr) string // URL
	token  string
	owner  string
}

func newControlClient(o Options, owner string) (controlClient, error) {
	r := controlClient{client: &http.Client{}, token: o.Token, owner: owner}
	if o.Direct {
		r.base = func(_ string, address netip.Addr) string {
			return "http://" + net.JoinHostPort(address.String(), strconv.Itoa(o.ControlPort))
		}
		return r, nil
	}
	host, _, err := rest.DefaultServerUrlFor(o.Config)
	if err != nil {
		return controlClient{}, err
	}
	r.base = func(pod string, _ netip.Addr) string {
		return fmt.Sprintf("%s/api/v1/namespaces/%s/pods/%s:%d/proxy",
			strings.TrimSuffix(host.String(), "/"), url.PathEscape(o.Namespace), url.PathEscape(pod), o.ControlPort)
	}
	r.client, err = rest.HTTPClientFor(o.Config)
	return r, err
}

// send sends an order to the process of a member.
func (r controlClient) send(m *member, verb string, o order) error {
	return r.sendFor(m, verb, o, nil)
}

// sendFor sends an order that has an answer, and decodes the answer into a pointer.
func (r controlClient) sendFor(m *member, verb string, o order, into any) error {
	ctx, cancel := context.WithTimeout(context.Background(), o.timeoutFor(verb))
	defer cancel()
	o.Owner = r.owner
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base(m.name, m.address)+"/pod/"+verb, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(TokenHeader, r.token)
	answer, err := r.client.Do(request)
	if err != nil {
		return fmt.Errorf("send %[2]s to pod %[1]s of the pool: %[3]w", m.name, verb, err)
	}
	defer answer.Body.Close()
	if into != nil && answer.StatusCode == http.StatusOK {
		if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
			return fmt.Errorf("send %s to pod %s of the pool: read the answer: %w", verb, m.name, err)
		}
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<12)) // the reason, if there is one
	switch answer.StatusCode {
	case http.StatusNoContent:
		return nil
	case http.StatusConflict:
		return fmt.Errorf("send %[2]s to pod %[1]s of the pool: %[3]w: %[4]s", m.name, verb, errRefused, bytes.TrimSpace(text))
	}
	return fmt.Errorf("send %[2]s to pod %[1]s of the pool: %[3]s: %[4]s", m.name, verb, answer.Status, bytes.TrimSpace(text))
}
