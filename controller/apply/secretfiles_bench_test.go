package apply

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/internal/nginxtest"
)

// BenchmarkSecretFiles measures writing the password files of 5,000 ingresses: all new, and with
// one changed file.
func BenchmarkSecretFiles(b *testing.B) {
	program, _ := nginxtest.Find(b)
	layout := Layout{Root: nginxtest.Folder(b)}
	if err := layout.Make(); err != nil {
		b.Fatal(err)
	}
	path := func(n int) string { return filepath.Join(layout.Passwords(), fmt.Sprintf("demo-web-%d.passwd", n)) }
	state := plan.State{Files: make(map[string][]byte)}
	server := conf.NewPiece([]byte(strings.Repeat("server { location / { proxy_pass http://upstream_balancer; } }\n", 100)))
	var servers []*conf.Piece
	for n := range 5000 {
		state.Files[path(n)] = []byte("user:$apr1$salt$hash\n")
		servers = append(servers, server)
	}
	state.Conf = conf.Of(servers...)
	write := func(t *Target) {
		if err := t.writeSecretFiles(state); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			if err := os.RemoveAll(layout.Passwords()); err != nil {
				b.Fatal(err)
			}
			if err := layout.Make(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			write(New(Options{Nginx: program, Layout: layout}))
		}
	})
	b.Run("one changed", func(b *testing.B) {
		target := New(Options{Nginx: program, Layout: layout})
		write(target)
		for n := 0; b.Loop(); n++ {
			state.Files[path(0)] = fmt.Appendf(nil, "user:%d\n", n)
			write(target)
		}
	})
}
