package main

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
)

// page is what was measured.
type page struct {
	hosts, locations int
	size             int // of nginx.conf, in bytes
	whole            served
	repeated         served   // if each location sets all request headers
	without          []served // without one more of parts each time
}

const intro = `# Where nginx's memory goes

` + "`make nginx-memory`" + ` writes this page. A real nginx with %d workers serves a cluster of %d hosts and %d
locations, whose nginx.conf has %s.

## Processes

The master reads nginx.conf and forks the workers, which share its pages until one of them writes to a page.
RSS counts a shared page in each process, PSS divides it among them. The figures of reports are sums of
RSS where they do not name PSS. During a reload, the master and the new workers have a second configuration.

`

const partsIntro = `
## Parts of the configuration

The memory of the master (RSS). Each row removes one more part from the configuration, except from the host of
unknown hosts, and shows the difference.

`

const outro = `
## What can go

The http block sets the request headers of all locations that need no others. If each location set them
itself, the master would take %s.

Most of the rest is nginx's own: each of its modules has a structure for each server and each location, also where
it is not used, and each host with TLS has a context of OpenSSL.
`

// write prints the page as Markdown.
func (p page) write(w io.Writer) error {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"process", "RSS", "PSS"})
	sum := p.whole.master
	t.AppendRow(table.Row{"master", mebibytes(sum.rss), mebibytes(sum.pss)})
	for _, worker := range p.whole.workers {
		t.AppendRow(table.Row{"worker", mebibytes(worker.rss), mebibytes(worker.pss)})
		sum = memory{sum.rss + worker.rss, sum.pss + worker.pss}
	}
	t.AppendRow(table.Row{"sum", mebibytes(sum.rss), mebibytes(sum.pss)})
	text := fmt.Sprintf(intro, workers, p.hosts, p.locations, mebibytes(int64(p.size))) + t.RenderMarkdown() + "\n" + partsIntro

	t = table.NewWriter()
	t.AppendHeader(table.Row{"part", "memory", "share", "for each host"})
	row := func(name string, bytes int64) {
		t.AppendRow(table.Row{
			name, mebibytes(bytes), fmt.Sprintf("%.0f %%", 100*float64(bytes)/float64(p.whole.master.rss)),
			fmt.Sprintf("%.1f KiB", float64(bytes)/float64(p.hosts)/(1<<10)),
		})
	}
	before := p.whole
	for i, without := range p.without {
		row(parts[i].name, before.master.rss-without.master.rss)
		before = without
	}
	row("the rest: nginx, its modules, and the http block", before.master.rss)
	row("all", p.whole.master.rss)
	text += t.RenderMarkdown() + "\n" + fmt.Sprintf(outro, mebibytes(p.repeated.master.rss))
	_, err := io.WriteString(w, text)
	return err
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
