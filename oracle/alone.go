package main

import (
	"context"
	"path/filepath"
)

// startAlone starts the simulated server in its own process, as users do. It returns the server
// twice: with its HTTP and with its HTTPS address.
func startAlone(ctx context.Context, command, dir string) ([]*server, func(), error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, nil, err
	}
	const token = adminToken + "-of-the-simulated-server"
	p, err := launch(dir, command, "apiserver", "--controllers=none", "--dir="+dir, "--token="+token,
		"--http=127.0.0.1:"+ports[0], "--https=127.0.0.1:"+ports[1])
	if err != nil {
		return nil, nil, err
	}
	secure := &server{name: "ours over HTTPS", url: "https://127.0.0.1:" + ports[1], token: token, programs: []*program{p}}
	if err := secure.waitReady(ctx, filepath.Join(dir, "ca.crt")); err != nil {
		p.stop()
		return nil, nil, err
	}
	plain := &server{name: "ours over HTTP", url: "http://127.0.0.1:" + ports[0], token: token, client: secure.client, programs: []*program{p}}
	return []*server{plain, secure}, p.stop, nil
}
