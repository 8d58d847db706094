package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/files"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/template"
)

// watchFiles asks for a sync when the user's template or the databases of
// addresses may have changed. That they cannot be watched stops nothing else.
func (c *controller) watchFiles(ctx context.Context) {
	paths := []string{layout(c.Config).GeoIP()}
	if c.TemplateFile != "" {
		paths = append(paths, c.TemplateFile)
	}
	changed := func() {
		c.filesChanged.Store(true)
		c.queue.Force("file-change")
	}
	c.filesChanged.Store(true) // since they were read for the first time
	if err := files.Watch(ctx, c.Log, changed, paths...); err != nil {
		c.Log.Error(err.Error())
	}
}

// readFiles takes over what has changed in the files that watchFiles follows.
func (c *controller) readFiles(ctx context.Context, cluster snapshot.Snapshot) {
	if missing := missing(c.Options); !slices.Equal(missing, c.input.Load().Missing) {
		input := *c.input.Load()
		input.Missing = missing
		c.input.Store(&input)
	}
	if !c.filesChanged.Swap(false) {
		return
	}
	input := *c.input.Load()
	input.GeoIPFiles, c.databases = databases(layout(c.Config).GeoIP())
	c.input.Store(&input)
	if c.TemplateFile == "" {
		return
	}
	read, err := template.Read(c.TemplateFile)
	seen := ""
	if err == nil {
		seen = read.Text()
	} else {
		seen = err.Error()
	}
	if seen == c.templateSeen {
		return
	}
	if err == nil {
		err = c.takeTemplate(ctx, cluster, read)
	}
	if errors.Is(err, errUndecided) {
		c.filesChanged.Store(true)
		return
	}
	c.templateSeen = seen
	if err != nil {
		c.Log.Error("the new template is refused, the old one stays", "file", c.TemplateFile, "error", err.Error())
		c.events.Event(c.Pod, corev1.EventTypeWarning, "Template", fmt.Sprintf("the new %s is refused, the old one stays: %v", c.TemplateFile, err))
		return
	}
	c.Log.Info("a new template holds", "file", c.TemplateFile)
}

// errUndecided says that nginx refuses the cluster whatever the template.
var errUndecided = errors.New("nginx refuses the cluster with the old template, too")

// takeTemplate makes a template hold if nginx takes what it makes of the
// cluster.
func (c *controller) takeTemplate(ctx context.Context, cluster snapshot.Snapshot, read *render.Template) error {
	input := *c.input.Load()
	input.Template = read
	if err := checkTemplate(input, c.Options, c.Nginx); err != nil {
		return err
	}
	cluster, _ = c.withheld.Serve(cluster)
	err := c.tryInput(ctx, cluster, input)
	switch refusal := new(apply.Refusal); {
	case errors.As(err, &refusal) && c.tryInput(ctx, cluster, *c.input.Load()) != nil:
		return errUndecided
	case errors.As(err, &refusal):
		return inTemplate(read, refusal)
	case err != nil:
		return err
	}
	c.input.Store(&input)
	return nil
}

// tryInput asks nginx whether it would take what the cluster becomes with an
// input.
func (c *controller) tryInput(ctx context.Context, cluster snapshot.Snapshot, input render.Input) error {
	input.Options, _ = c.options(cluster)
	wanted, _ := model.Build(cluster, input.Options)
	next, err := plan.Next(wanted, input)
	if err != nil {
		return err
	}
	return c.target.Try(ctx, next)
}

// databases are the files of a folder in which nginx looks up addresses, and
// for each path something that changes when the file does.
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

// missing are the rules of ModSecurity that are not there. Nobody follows them:
// they are looked for at each sync.
func missing(o options.Options) []string {
	return slices.DeleteFunc(render.FirewallFiles(), func(file string) bool {
		_, err := os.Stat(o.Path(file))
		return err == nil
	})
}
