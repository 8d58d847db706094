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

// control sends GETs to nginx's status server. It keeps no connection alive, so each request proves
// that nginx accepts connections.
var control = &http.Client{
	Timeout:   10 * time.Second,
	Transport: &http.Transport{DisableKeepAlives: true},
}

// poster sends changes to nginx's status server. It keeps a connection alive, because opening one
// takes as long as the rest of the request. nginx closes the connection when its worker ends; the
// transport then repeats a request that failed because of this.
var poster = &http.Client{
	Timeout:   control.Timeout,
	Transport: &http.Transport{MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute},
}

// post sends a body until nginx accepts it or the retries are used up. It returns the body of
// nginx's answer.
func (t *Target) post(ctx context.Context, path string, body []byte, report *Report) (answer string, err error) {
	err = t.repeat(ctx, path, body, report, func(ctx context.Context) (err error) {
		answer, err = t.postOnce(ctx, path, body)
		return err
	})
	return answer, err
}

// repeat calls send until it succeeds or the retries are used up.
func (t *Target) repeat(ctx context.Context, to string, body []byte, report *Report, send func(context.Context) error) error {
	began := time.Now()
	var last error
	err := wait.ExponentialBackoffWithContext(ctx, t.retry, func(ctx context.Context) (bool, error) {
		last = send(ctx)
		if failed := refusal(nil); errors.As(last, &failed) {
			t.complain(Complaint{to, failed.reason()})
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

func (t *Target) postOnce(ctx context.Context, path string, body []byte) (answer string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.control+path, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	if t.secret != "" {
		request.Header.Set("Authorization", "Bearer "+t.secret)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header["Idempotency-Key"] = nil // lets the transport repeat the request; it is not sent
	response, err := poster.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return "", err
	}
	answer = strings.TrimSpace(string(text))
	if response.StatusCode != http.StatusCreated {
		return "", &postError{response.Status, answer}
	}
	return answer, nil
}
