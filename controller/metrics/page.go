package metrics

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// page is a page of nginx's status server.
type page struct {
	client *http.Client
	url    string
}

const longestPage = 1 << 16 // bytes

func newPage(url string) page {
	// An idle connection would end when its worker ends.
	return page{&http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}, url}
}

// read returns the body of the page. It fails if the status is not 200.
func (p page) read() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), p.client.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return nil, err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", p.url, response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, longestPage))
}
