// Command nginxmemory prints a Markdown page that says where nginx's memory goes in a cluster with
// thousands of hosts. It renders such a cluster, and starts a real nginx with it, again and again, each
// time with fewer parts of the configuration.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	hosts := flag.Int("hosts", 5000, "the `number` of hosts, each with an ingress of its own")
	flag.Parse()
	if flag.NArg() > 0 || *hosts < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *hosts); err != nil {
		fmt.Fprintln(os.Stderr, "nginxmemory:", err)
		os.Exit(1) //nolint:gocritic // the deferred function only affects signals
	}
}

// run writes the page for a number of hosts to w, and what it does to standard error.
func run(ctx context.Context, w io.Writer, hosts int) error {
	root, err := os.MkdirTemp("", "nginx-memory-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	site, err := newSite(root, hosts)
	if err != nil {
		return err
	}
	serve := func(name string, c configuration) (served, error) {
		fmt.Fprintln(os.Stderr, "nginx-memory:", name)
		found, err := site.serve(ctx, c)
		if err != nil {
			return served{}, fmt.Errorf("%s: %w", name, err)
		}
		return found, nil
	}
	page := page{hosts: hosts, locations: site.conf.locations(), size: len(site.conf.String())}
	if page.whole, err = serve("the whole configuration", site.conf); err != nil {
		return err
	}
	if page.repeated, err = serve("with all request headers in each location", site.conf.withHeadersEverywhere()); err != nil {
		return err
	}
	left := site.conf
	for _, part := range parts {
		left = part.remove(left)
		without, err := serve("without "+part.name, left)
		if err != nil {
			return err
		}
		page.without = append(page.without, without)
	}
	return page.write(w)
}
