package installed

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"
)

// unknownHost is a host that no installation serves (RFC 2606).
const unknownHost = "windtunnel-check.invalid"

// answerTimeout is how long an installation may take to answer the first request.
const answerTimeout = 10 * time.Second

// resolve finds the addresses of the URLs.
func (d *Driver) resolve(ctx context.Context) error {
	if len(d.URLs) == 0 {
		return d.suggestURLs(ctx)
	}
	for _, text := range d.URLs {
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil {
			return fmt.Errorf("--url=%s: want http://HOST or https://HOST, perhaps with a port", text)
		}
		to, standard := &d.http, "80"
		if u.Scheme == "https" {
			to, standard = &d.https, "443"
		}
		if to.IsValid() {
			return fmt.Errorf("--url=%s: there is another URL that begins with %s", text, u.Scheme)
		}
		if *to, err = lookup(ctx, u, standard); err != nil {
			return fmt.Errorf("--url=%s: %w", text, err)
		}
	}
	if !d.http.IsValid() {
		return errors.New("--url: one must begin with http://, because the run waits for its changes there")
	}
	return nil
}

// lookup returns the address of a URL; of several, the first of IPv4.
func lookup(ctx context.Context, u *url.URL, standardPort string) (netip.AddrPort, error) {
	text := u.Port()
	if text == "" {
		text = standardPort
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return netip.AddrPort{}, err
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return netip.AddrPort{}, err
	}
	chosen := found[0]
	for _, address := range found {
		if address.Unmap().Is4() {
			chosen = address
			break
		}
	}
	return netip.AddrPortFrom(chosen.Unmap(), uint16(port)), nil
}

// checkAnswers checks that nginx answers at the URLs, and remembers the certificate for unknown
// hosts.
func (d *Driver) checkAnswers(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, fmt.Errorf("no answer within %v", answerTimeout))
	defer cancel()
	if err := d.checkHTTP(ctx); err != nil {
		return fmt.Errorf("nothing answers at %v for HTTP: %w", d.http, err)
	}
	if !d.https.IsValid() {
		return nil
	}
	if err := d.checkHTTPS(ctx); err != nil {
		return fmt.Errorf("nothing answers at %v for HTTPS: %w", d.https, err)
	}
	return nil
}

func (d *Driver) checkHTTP(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.http.String()+"/", nil)
	if err != nil {
		return err
	}
	request.Host = unknownHost
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

func (d *Driver) checkHTTPS(ctx context.Context) error {
	dialer := tls.Dialer{Config: &tls.Config{ServerName: unknownHost, InsecureSkipVerify: true}} // its certificate is for other hosts
	connection, err := dialer.DialContext(ctx, "tcp", d.https.String())
	if err != nil {
		return err
	}
	defer connection.Close()
	if served := connection.(*tls.Conn).ConnectionState().PeerCertificates; len(served) > 0 {
		d.certificate = served[0]
	}
	return nil
}
