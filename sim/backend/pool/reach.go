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

// patience bounds the time of one order. A pod's last answers may take five seconds.
const patience = 15 * time.Second

// patienceFor is shorter for orders that renew a lease: the next one comes soon.
func (o order) patienceFor(verb string) time.Duration {
	if verb == "keep" {
		return min(patience, o.Lease/4)
	}
	return patience
}

// reach sends orders to the processes of a pool: through the API server, which works wherever
// kubectl works, or directly to their addresses.
type reach struct {
	client *http.Client
	base   func(pod string, address netip.Addr) string // URL
	token  string
	owner  string
}

func newReach(o Options, owner string) (reach, error) {
	r := reach{client: &http.Client{}, token: o.Token, owner: owner}
	if o.Direct {
		r.base = func(_ string, address netip.Addr) string {
			return "http://" + net.JoinHostPort(address.String(), strconv.Itoa(o.ControlPort))
		}
		return r, nil
	}
	host, _, err := rest.DefaultServerUrlFor(o.Config)
	if err != nil {
		return reach{}, err
	}
	r.base = func(pod string, _ netip.Addr) string {
		return fmt.Sprintf("%s/api/v1/namespaces/%s/pods/%s:%d/proxy",
			strings.TrimSuffix(host.String(), "/"), url.PathEscape(o.Namespace), url.PathEscape(pod), o.ControlPort)
	}
	r.client, err = rest.HTTPClientFor(o.Config)
	return r, err
}

// tell sends an order to the process of a member.
func (r reach) tell(m *member, verb string, o order) error {
	return r.send(m, verb, o, nil)
}

// send is tell for an order with an answer, which it decodes into a pointer.
func (r reach) send(m *member, verb string, o order, into any) error {
	ctx, cancel := context.WithTimeout(context.Background(), o.patienceFor(verb))
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
		return fmt.Errorf("telling pod %s of the pool: %s: %w", m.name, verb, err)
	}
	defer answer.Body.Close()
	if into != nil && answer.StatusCode == http.StatusOK {
		if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
			return fmt.Errorf("telling pod %s of the pool: %s: reading the answer: %w", m.name, verb, err)
		}
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<12)) // the reason, if there is one
	switch answer.StatusCode {
	case http.StatusNoContent:
		return nil
	case http.StatusConflict:
		return fmt.Errorf("telling pod %s of the pool: %s: %w: %s", m.name, verb, errRefused, bytes.TrimSpace(text))
	}
	return fmt.Errorf("telling pod %s of the pool: %s: %s: %s", m.name, verb, answer.Status, bytes.TrimSpace(text))
}
