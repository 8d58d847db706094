package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// control talks to nginx's status server. Connections are not kept: the one
// that is idle belongs to a worker that the next reload ends.
var control = &http.Client{
	Timeout:   10 * time.Second,
	Transport: &http.Transport{DisableKeepAlives: true},
}

// post sends a body until nginx takes it or the retries are used up, and
// returns what nginx said when it took it.
func (t *Target) post(ctx context.Context, path string, body []byte, report *Report) (said string, err error) {
	err = t.repeat(ctx, path, body, report, func(ctx context.Context) (err error) {
		said, err = t.postOnce(ctx, path, body)
		return err
	})
	return said, err
}

// repeat sends until that succeeds or the retries are used up.
func (t *Target) repeat(ctx context.Context, to string, body []byte, report *Report, send func(context.Context) error) error {
	began := time.Now()
	var last error
	err := wait.ExponentialBackoffWithContext(ctx, t.retry, func(ctx context.Context) (bool, error) {
		last = send(ctx)
		if refused := new(notTaken); errors.As(last, &refused) {
			t.complain(Complaint{to, refused.reason()})
		}
		return last == nil, nil
	})
	if err != nil && last == nil {
		last = err
	}
	if last != nil {
		return fmt.Errorf("sending %d bytes to %s: %w", len(body), to, last)
	}
	report.Posts = append(report.Posts, Post{Path: to, Bytes: len(body), Took: time.Since(began)})
	return nil
}

func (t *Target) postOnce(ctx context.Context, path string, body []byte) (said string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.control+path, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	if t.secret != "" {
		request.Header.Set("Authorization", "Bearer "+t.secret)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := control.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return "", err
	}
	said = strings.TrimSpace(string(text))
	if response.StatusCode != http.StatusCreated {
		return "", &notTaken{response.Status, said}
	}
	return said, nil
}
