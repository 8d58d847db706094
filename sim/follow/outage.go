package follow

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"k8s.io/client-go/tools/cache"
)

// outage notices when the API server cannot be read. client-go itself does not report refused connections.
type outage struct {
	told chan error

	mu   sync.Mutex
	down error // nil: the API server can be read
}

// begin reports an outage, unless an earlier one has not ended.
func (o *outage) begin(why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.down != nil {
		return
	}
	o.down = why
	select {
	case o.told <- why:
	default: // nobody reads them
	}
}

// now returns why the API server cannot be read, or nil.
func (o *outage) now() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.down
}

func (o *outage) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down = nil
}

// ofWatch returns the handler of errors of the watch of a kind.
func (o *outage) ofWatch(kind string) cache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, _ *cache.Reflector, err error) {
		if ctx.Err() == nil {
			o.begin(fmt.Errorf("the watch of %s ended: %w", kind, err))
		}
	}
}

// wrap returns a transport that notices whether the API server answers.
func (o *outage) wrap(next http.RoundTripper) http.RoundTripper { return noticing{next, o} }

type noticing struct {
	next   http.RoundTripper
	outage *outage
}

func (n noticing) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := n.next.RoundTrip(request)
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		n.outage.begin(fmt.Errorf("the API server does not answer: %w", err))
	case err == nil && response.StatusCode < http.StatusBadRequest:
		n.outage.end()
	}
	return response, err
}

// WrappedRoundTripper is how client-go finds the transport below.
func (n noticing) WrappedRoundTripper() http.RoundTripper { return n.next }
