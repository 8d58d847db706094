package controller

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
)

// checkTemplate returns why a user's template cannot work with this nginx, whatever the cluster
// holds: it does not render, or writes a directive of a module that nginx does not have. Some
// directives depend on ConfigMap keys, so a directive that a key can switch off (http2) does not
// count.
func checkTemplate(in compile.Input, program *nginx.Nginx) error {
	if in.Template == nil {
		return nil
	}
	if err := lend(in.Options, program); err != nil {
		return err
	}
	in.Options.Config.UseHTTP2 = false
	conf, err := compile.Build(snapshot.Snapshot{}, in).Conf()
	if err != nil {
		return fmt.Errorf("--nginx-template: %w", err)
	}
	if unmet := program.Unmet(conf); unmet != nil {
		return fmt.Errorf("--nginx-template: %s: %s: %s", in.Template.Place(unmet.Directive), unmet.Directive, unmet.Reason)
	}
	return nil
}

// proveTemplate tests a user's template with an empty cluster before anything else. If nginx refused
// it in every sync, the controller would never become ready. A refused configuration is kept as
// nginx.conf.next.
func (c *controller) proveTemplate(ctx context.Context) error {
	input := c.input.now()
	if input.Template == nil {
		return nil
	}
	clusters := []snapshot.Snapshot{{}}
	if c.ConfigMap.Name != "" {
		// The template may need its values. A failure to read it now must not prevent the start.
		if config, err := c.Client.CoreV1().ConfigMaps(c.ConfigMap.Namespace).Get(ctx, c.ConfigMap.Name, metav1.GetOptions{}); err == nil {
			clusters = append(clusters, snapshot.Snapshot{ConfigMaps: map[types.NamespacedName]*corev1.ConfigMap{c.ConfigMap: config}})
		}
	}
	var refusal *apply.Refusal
	for _, cluster := range clusters {
		err := c.try(ctx, cluster, input)
		if err == nil {
			return nil
		}
		if !errors.As(err, &refusal) {
			return fmt.Errorf("--nginx-template: %w", err)
		}
	}
	kept := layout(c.Config).Conf() + ".next"
	if err := apply.Write(kept, refusal.Conf); err != nil {
		return err
	}
	words := strings.ReplaceAll(inTemplate(input.Template, refusal).Error(), refusal.File, kept)
	return fmt.Errorf("--nginx-template: %s; the refused configuration is %s", words, kept)
}

// inTemplate returns the line of the template that writes what nginx refused.
func inTemplate(template *render.Template, refusal *apply.Refusal) error {
	line := refusal.Line()
	if line == "" {
		return refusal.Unwrap()
	}
	return fmt.Errorf("%s: %s: %w", template.Place(line), line, refusal.Unwrap())
}

// lend copies files of nginx's own distribution that ingress-nginx's image has, and that templates
// include, below the root, unless they are there already.
func lend(opts options.Options, program *nginx.Nginx) error {
	for _, name := range []string{"mime.types", "fastcgi_params"} {
		target := opts.Path("/etc/nginx/" + name)
		if _, err := os.Stat(target); err == nil {
			continue
		}
		own, err := program.File(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // nginx -t reports it if the template includes it
		}
		var text []byte
		if err == nil {
			text, err = os.ReadFile(own)
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
