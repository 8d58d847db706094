package controller

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
)

// checkTemplate says what keeps a user's template from working with this
// nginx, whatever the cluster holds: it does not render, or writes a directive
// of a module that is not there. ConfigMap keys can switch off some directives,
// so what is on by default only (http2) is not held against it.
func checkTemplate(in render.Input, opts options.Options, program *nginx.Nginx) error {
	if in.Template == nil {
		return nil
	}
	if err := lend(opts, program); err != nil {
		return err
	}
	opts.Config.UseHTTP2 = false
	in.Options = opts
	empty, _ := model.Build(snapshot.Snapshot{}, opts)
	conf, err := render.Render(empty, in)
	if err != nil {
		return fmt.Errorf("--nginx-template: %w", err)
	}
	if unmet := program.Unmet(conf); unmet != nil {
		return fmt.Errorf("--nginx-template: %s: %s: %s", in.Template.Place(unmet.Directive), unmet.Directive, unmet.Reason)
	}
	return nil
}

// lend puts the files of nginx's own distribution that ingress-nginx's image
// has, and templates include, below the root, unless they are there already.
func lend(opts options.Options, program *nginx.Nginx) error {
	for _, name := range []string{"mime.types", "fastcgi_params"} {
		target := opts.Path("/etc/nginx/" + name)
		if _, err := os.Stat(target); err == nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(program.ConfigurationFolder(), name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // nginx -t will say so, if the template wants it
		}
		if err == nil {
			err = apply.Write(target, text)
		}
		if err != nil {
			return fmt.Errorf("lending %s to --nginx-template: %w", name, err)
		}
	}
	return nil
}
