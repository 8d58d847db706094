package driver

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// AskHealth asks a controller's health endpoint once, and waits a second at most,
// as a kubelet does unless told otherwise. It is nil when the controller is well.
func AskHealth(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	return nil
}
