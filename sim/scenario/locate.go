package scenario

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"windtunnel.dev/adapters"
)

// fileFlags are the flags of ingress-nginx and of our controller whose values are files or folders.
// A relative path in them does not need a leading ./
var fileFlags = []string{
	"nginx-template", "lua-dir", "kubeconfig", "certificate-authority", "validating-webhook-certificate", "validating-webhook-key",
}

// locate makes relative paths of subjects absolute. They count from the folder of the file, like
// the recording's, so that a scenario does not depend on the working directory.
func (s *Scenario) locate() error {
	folder, err := filepath.Abs(filepath.Dir(s.File))
	if err != nil {
		return fmt.Errorf("%s: find its folder: %w", s.File, err)
	}
	for i := range s.Subjects {
		subject := &s.Subjects[i]
		for _, file := range []struct {
			path  *string
			named bool // it need not begin with ./
		}{
			{&subject.Controller, false}, {&subject.Nginx, false},
			{&subject.Adapter, adapters.IsPath(subject.Adapter)}, {&subject.Lua, true}, {&subject.Template, true},
		} {
			if isRelative(*file.path) || file.named && *file.path != "" && !filepath.IsAbs(*file.path) {
				*file.path, s.Located = filepath.Join(folder, *file.path), true
			}
		}
		if image, ok := strings.CutPrefix(subject.Controller, ImagePrefix); ok && IsImageFile(image) && !filepath.IsAbs(image) {
			subject.Controller, s.Located = ImagePrefix+filepath.Join(folder, image), true
		}
		s.locateFlags(folder, subject.Flags)
	}
	if s.Control != nil {
		s.locateFlags(folder, s.Control.Flags)
	}
	return nil
}

func (s *Scenario) locateFlags(folder string, flags map[string]string) {
	for flag, value := range flags {
		file := slices.Contains(fileFlags, flag) && value != "" && !filepath.IsAbs(value)
		if file || isRelative(value) {
			flags[flag], s.Located = filepath.Join(folder, value), true
		}
	}
}

// isRelative reports whether a text is a path that begins with ./ or ../
func isRelative(text string) bool {
	return strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../")
}
