package admission

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Server returns an HTTPS server for the webhook: TLS 1.2 or newer, HTTP/1.1. It loads its
// certificate again when the files change.
func Server(handler http.Handler, certificate *Certificate, log *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      readTimeout + 3*patience,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		Protocols:         protocols,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.get},
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // mostly handshakes that clients abort
	}
}

// readTimeout bounds the time that a client takes to send a review. The client is the API server,
// which is usually nearby.
const readTimeout = 10 * time.Second

// Serve answers until the server is closed.
func Serve(server *http.Server, listener net.Listener) error {
	if err := server.ServeTLS(listener, "", ""); err != http.ErrServerClosed {
		return fmt.Errorf("the admission webhook: %w", err)
	}
	return nil
}

// Certificate is a certificate and its key, in files that may be replaced at any time.
type Certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	read    version
	current *tls.Certificate
}

// version identifies a version of the two files.
type version struct{ cert, key stamp }

type stamp struct {
	changed time.Time
	size    int64
}

// Load reads a certificate and its key.
func Load(certFile, keyFile string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: log}
	now, err := c.version()
	if err != nil {
		return nil, err
	}
	return c, c.load(now)
}

func (c *Certificate) version() (version, error) {
	var v version
	for file, stamp := range map[string]*stamp{c.certFile: &v.cert, c.keyFile: &v.key} {
		info, err := os.Stat(file) // follows symbolic links
		if err != nil {
			return v, err
		}
		stamp.changed, stamp.size = info.ModTime(), info.Size()
	}
	return v, nil
}

func (c *Certificate) load(now version) error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.current, c.read = &pair, now
	return nil
}

// get implements tls.Config.GetCertificate. It checks the files at each handshake: two calls of
// stat are cheap compared with a handshake. If a file cannot be read, it returns the previous
// certificate.
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, err := c.version()
	if err == nil && now != c.read {
		err = c.load(now)
	}
	if err != nil {
		c.log.Warn("the webhook's certificate could not be reloaded; the previous one is used", "error", err.Error())
	}
	return c.current, nil
}
