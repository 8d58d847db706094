package apply

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// SweepEvery is the interval at which ingress-nginx removes leftovers of tested configurations, and
// their minimum age.
const SweepEvery = 5 * time.Minute

// leftovers are patterns of files that remain only after an interrupted write or test. They exclude
// nginx.conf.next, to which error messages refer.
var leftovers = []string{
	"/tmp/nginx/nginx-cfg*", // ingress-nginx's own name
	"/etc/nginx/nginx.conf.try",
	"/etc/nginx/.nginx.conf*-*",
	"/etc/nginx/.opentracing.json-*",
	"/etc/nginx/lua/.cfg.json-*",
	"/etc/ingress-controller/.tickets.key-*",
	"/etc/ingress-controller/auth/.*.passwd-*",
	"/etc/ingress-controller/ssl/.*.pem-*",
	"/etc/ingress-controller/telemetry/.*.toml-*",
}

// Sweep removes leftovers that were last written before since.
func (l Layout) Sweep(since time.Time) error {
	var problems []error
	for _, pattern := range leftovers {
		files, err := filepath.Glob(l.path(pattern))
		problems = append(problems, err)
		for _, file := range files {
			info, err := os.Lstat(file)
			if err != nil || info.IsDir() || !info.ModTime().Before(since) {
				continue // gone, or in use
			}
			if err := os.Remove(file); !errors.Is(err, os.ErrNotExist) {
				problems = append(problems, err)
			}
		}
	}
	return errors.Join(problems...)
}
