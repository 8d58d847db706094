package observe

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/observe/notice"
)

// source is a page of a controller that can be read. The caller closes what open returns.
type source interface {
	open(context.Context) (io.ReadCloser, error)
}

// direct is the URL of a page.
type direct string

func (d direct) open(ctx context.Context) (io.ReadCloser, error) { return get(ctx, string(d)) }

func get(ctx context.Context, url string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s answers %s", url, response.Status)
	}
	return response.Body, nil
}

// proxied is a page of a pod, through the API server.
type proxied struct {
	client         kubernetes.Interface
	namespace, pod string
	port           int
	path           string
}

func (p proxied) open(ctx context.Context) (io.ReadCloser, error) {
	return p.client.CoreV1().RESTClient().Get().Namespace(p.namespace).Resource("pods").
		Name(fmt.Sprintf("%s:%d", p.pod, p.port)).SubResource("proxy").Suffix(p.path).Stream(ctx)
}

// forwarded is a page of a pod on its loopback interface, through a port that the API server forwards. The
// connection to the API server is kept until a request fails.
type forwarded struct {
	api            *rest.Config
	namespace, pod string
	port           int
	path           string

	mu    sync.Mutex
	local uint16 // 0: nothing is forwarded
	stop  chan struct{}
}

func (f *forwarded) open(ctx context.Context) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.local == 0 {
		if err := f.forward(ctx); err != nil {
			return nil, fmt.Errorf("forward port %d of the pod %s/%s: %w", f.port, f.namespace, f.pod, err)
		}
	}
	body, err := get(ctx, fmt.Sprintf("http://127.0.0.1:%d%s", f.local, f.path))
	if err != nil {
		close(f.stop)
		f.local = 0
	}
	return body, err
}

// forward starts to forward a free local port.
func (f *forwarded) forward(ctx context.Context) error {
	dialer, err := f.dialer()
	if err != nil {
		return err
	}
	f.stop = make(chan struct{})
	ready, failed := make(chan struct{}), make(chan error, 1)
	forwarder, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{fmt.Sprintf("0:%d", f.port)}, f.stop, ready, io.Discard, io.Discard)
	if err != nil {
		return err
	}
	go func() { failed <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-failed:
		return err
	case <-ctx.Done():
		close(f.stop)
		return context.Cause(ctx)
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		return err
	}
	f.local = ports[0].Local
	return nil
}

// dialer connects over a websocket, or over SPDY to API servers that do not support websockets.
func (f *forwarded) dialer() (httpstream.Dialer, error) {
	client, err := kubernetes.NewForConfig(f.api)
	if err != nil {
		return nil, err
	}
	url := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(f.namespace).Name(f.pod).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(f.api)
	if err != nil {
		return nil, err
	}
	websocket, err := portforward.NewSPDYOverWebsocketDialer(url, f.api)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialer(websocket, spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url),
		func(err error) bool { return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err) }), nil
}

// readStatus reads nginx's status page.
func readStatus(ctx context.Context, s source) (*event.Status, error) {
	body, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, 4096))
	if err != nil {
		return nil, err
	}
	return notice.ParseStatus(string(text))
}
