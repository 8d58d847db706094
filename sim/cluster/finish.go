package cluster

import (
	"context"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// WriteGrace is enough for the answer of a loaded API server.
const WriteGrace = 30 * time.Second

// FinishWrites returns a configuration whose clients wait for the answer to a write that is on its
// way when its context ends, for at most grace. Without that, the API server may make the write
// after the caller has removed what it wrote. Reads end with their context, and no write begins
// after its context has ended.
func FinishWrites(config *rest.Config, grace time.Duration) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return writeFinisher{next, grace} })
	return config
}

type writeFinisher struct {
	next  http.RoundTripper
	grace time.Duration
}

func (f writeFinisher) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		return f.next.RoundTrip(request)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, func() { time.AfterFunc(f.grace, cancel) })
	response, err := f.next.RoundTrip(request.WithContext(longer))
	if err != nil {
		release()
		cancel()
		return nil, err
	}
	response.Body = &finishedBody{response.Body, func() { release(); cancel() }}
	return response, nil
}

// WrappedRoundTripper is how client-go finds the transport below.
func (f writeFinisher) WrappedRoundTripper() http.RoundTripper { return f.next }

// finishedBody is the body of a response; done is called when it is closed.
type finishedBody struct {
	io.ReadCloser
	done func()
}

func (b *finishedBody) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}
