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

// checkTemplate returns an error if a user's template cannot work with this nginx for any cluster:
// it does not render, or it writes a directive that nginx does not know. It ignores directives that
// a ConfigMap key can switch off (http2).
func checkTemplate(in compile.Input, program *nginx.Nginx) error {
	if in.Template == nil {
		return nil
	}
	if err := copyIncludes(in.Options, program); err != nil {
		return err
	}
	in.Options.Config.UseHTTP2 = false
	conf, err := compile.Build(snapshot.Snapshot{}, in).Conf()
	if err != nil {
		return fmt.Errorf("--nginx-template: %w", err)
	}
	if unmet := program.Unmet(conf); unmet != nil {
		return fmt.Errorf("--nginx-template: %s: %s: %s", in.Template.Position(unmet.Directive), unmet.Directive, unmet.Reason)
	}
	return nil
}

// testTemplate tests a user's template before the first sync, with an empty cluster and then with
// the current ConfigMap. If nginx rejected the template in every sync, the controller would never
// become ready; nor would it without `daemon off;` or the status server, which nginx -t does not
// require. testTemplate keeps a rejected configuration as nginx.conf.next.
func (c *controller) testTemplate(ctx context.Context) error {
	input := c.input.now()
	if input.Template == nil {
		return nil
	}
	clusters := []snapshot.Snapshot{{}}
	if c.ConfigMap.Name != "" {
		// The template may need values of the ConfigMap. If it cannot be read now, the start
		// continues.
		if config, err := c.Client.CoreV1().ConfigMaps(c.ConfigMap.Namespace).Get(ctx, c.ConfigMap.Name, metav1.GetOptions{}); err == nil {
			clusters = append(clusters, snapshot.Snapshot{ConfigMaps: map[types.NamespacedName]*corev1.ConfigMap{c.ConfigMap: config}})
		}
	}
	var rejection *apply.Rejection
	for _, cluster := range clusters {
		err := c.tryTemplate(ctx, cluster, input)
		if err == nil {
			return nil
		}
		if !errors.As(err, &rejection) {
			return fmt.Errorf("--nginx-template: %w", err)
		}
	}
	kept := layout(c.Config).Conf() + ".next"
	if err := apply.WriteText(kept, rejection.Conf); err != nil {
		return err
	}
	words := strings.ReplaceAll(inTemplate(input.Template, rejection).Error(), rejection.File, kept)
	return fmt.Errorf("--nginx-template: %s; the rejected configuration is %s", words, kept)
}

// tryTemplate is like try. It also returns an error if nginx -t accepts the configuration, but the
// controller could not start or configure nginx with it.
func (c *controller) tryTemplate(ctx context.Context, cluster snapshot.Snapshot, input compile.Input) error {
	compiled, err := compile.Compile(cluster, input)
	if err != nil {
		return err
	}
	if err := c.target.Try(ctx, compiled.State); err != nil {
		return err
	}
	conf := compiled.State.Conf.Bytes()
	if err := nginx.CheckForeground(conf); err != nil {
		return err
	}
	return nginx.CheckStatus(conf, input.Options.Ports.Status)
}

// inTemplate adds the position in the template to a rejection: the template line that rendered the
// rejected line.
func inTemplate(template *render.Template, rejection *apply.Rejection) error {
	line := rejection.Line()
	if line == "" {
		return rejection.Unwrap()
	}
	return fmt.Errorf("%s: %s: %w", template.Position(line), line, rejection.Unwrap())
}

// copyIncludes copies files of nginx's distribution below the root, unless they exist there.
// ingress-nginx's image has these files, and templates include them.
func copyIncludes(opts options.Options, program *nginx.Nginx) error {
	for _, name := range nginx.Distributed {
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
			return fmt.Errorf("copying %s for --nginx-template: %w", name, err)
		}
	}
	return nil
}
