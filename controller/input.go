package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/files"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/template"
)

// input holds the inputs of configurations besides the cluster. Syncs change it; the webhook reads
// it concurrently.
type input struct {
	atomic.Pointer[compile.Input]
	filesChanged atomic.Bool // a file that watchFiles follows may have changed
	templateSeen string      // text of the user's template when it was last read, or the error of reading it
}

// now returns the current input.
func (i *input) now() compile.Input {
	now := *i.Load()
	now.Now = time.Now()
	return now
}

// change replaces the input by a changed copy.
func (i *input) change(change func(*compile.Input)) {
	next := *i.Load()
	change(&next)
	i.Store(&next)
}

// settings returns a text that changes when a file that the configuration depends on changes.
func (c *controller) settings() string {
	return c.input.templateSeen + fmt.Sprint(c.input.Load().Databases)
}

// watchFiles requests a sync when the user's template or a GeoIP database may have changed. If it
// cannot watch them, it logs the error, and their changes go unnoticed.
func (c *controller) watchFiles(ctx context.Context) {
	paths := []string{layout(c.Config).GeoIP()}
	if c.TemplateFile != "" {
		paths = append(paths, c.TemplateFile)
	}
	changed := func() {
		c.input.filesChanged.Store(true)
		c.queue.Force("file-change")
	}
	c.input.filesChanged.Store(true) // they may have changed since they were first read
	if err := files.Watch(ctx, c.Log, changed, paths...); err != nil {
		c.Log.Error(err.Error())
	}
}

// readFiles rereads the files that watchFiles watches, if any of them may have changed.
func (c *controller) readFiles(ctx context.Context, cluster snapshot.Snapshot) {
	if missing := missing(c.Options); !slices.Equal(missing, c.input.Load().Missing) {
		c.input.change(func(in *compile.Input) { in.Missing = missing })
	}
	if !c.input.filesChanged.Swap(false) {
		return
	}
	c.input.change(func(in *compile.Input) { in.GeoIPFiles, in.Databases = databases(layout(c.Config).GeoIP()) })
	if c.TemplateFile != "" {
		c.readTemplate(ctx, cluster)
	}
}

// readTemplate reads the user's template, and puts it into use if nginx accepts it.
func (c *controller) readTemplate(ctx context.Context, cluster snapshot.Snapshot) {
	read, err := template.Read(c.TemplateFile)
	seen := ""
	if err == nil {
		seen = read.Text()
	} else {
		seen = err.Error()
	}
	if seen == c.input.templateSeen {
		return
	}
	if err == nil {
		err = c.adoptTemplate(ctx, cluster, read)
	}
	if errors.Is(err, errUndecided) {
		c.input.filesChanged.Store(true)
		return
	}
	c.input.templateSeen = seen
	c.observer.Template(c.TemplateFile, err)
}

// errUndecided means that nginx rejects the cluster with the old template, too.
var errUndecided = errors.New("nginx rejects the cluster with the old template as well")

// adoptTemplate puts a template into use if nginx accepts the configuration that it renders.
func (c *controller) adoptTemplate(ctx context.Context, cluster snapshot.Snapshot, read *render.Template) error {
	before := c.input.now()
	next := before
	next.Template = read
	if err := checkTemplate(next, c.Nginx); err != nil {
		return err
	}
	cluster, _ = c.quarantine.Serve(cluster)
	err := c.tryTemplate(ctx, cluster, next)
	switch rejection := new(apply.Rejection); {
	case errors.As(err, &rejection) && c.try(ctx, cluster, before) != nil:
		return errUndecided
	case errors.As(err, &rejection):
		return inTemplate(read, rejection)
	case err != nil:
		return err
	}
	c.input.change(func(in *compile.Input) { in.Template = read })
	return nil
}

// databases returns the names of the GeoIP databases in a folder, and a stamp for each path, a text
// that changes when the file does.
func databases(folder string) (names []string, stamps map[string]string) {
	found, err := filepath.Glob(filepath.Join(folder, "*.mmdb"))
	if err != nil {
		return nil, nil
	}
	slices.Sort(found)
	stamps = make(map[string]string)
	for _, path := range found {
		if info, err := os.Stat(path); err == nil {
			names = append(names, filepath.Base(path))
			stamps[path] = fmt.Sprintf("%d bytes of %s", info.Size(), info.ModTime().UTC().Format("2006-01-02T15:04:05.999999999Z"))
		}
	}
	return names, stamps
}

// missing returns ModSecurity's rule files that do not exist. They are not watched, so each sync
// checks them.
func missing(o options.Options) []string {
	return slices.DeleteFunc(render.FirewallFiles(), func(file string) bool {
		_, err := os.Stat(o.Path(file))
		return err == nil
	})
}

// writable caches the last path at which nginx's tracer configuration was found to be writable.
type writable struct {
	mu   sync.Mutex
	path string
}

// test implements compile.Input.Writable.
func (w *writable) test(path string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if path == w.path {
		return nil
	}
	if err := apply.Writable(path); err != nil {
		return err
	}
	w.path = path
	return nil
}
