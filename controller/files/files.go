// Package files tells when files may have changed that others write: a user's
// template, databases of addresses. It stands between the file system and the
// sync. Its one rule: an event is only an occasion; whoever is told reads the
// files as they are then.
package files

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long events are gathered before they are told as one: whoever
// writes a file makes several.
const settle = 50 * time.Millisecond

// Watch calls changed, never twice at once, when there is something new in the
// folders of the paths, or in those that they link to, until ctx is done. A
// path is a file, which need not exist, or a folder; a file's folder must
// exist. Whole folders are followed because Kubernetes changes a mounted file
// by swapping a link beside it, and editors by renaming another to its name.
// It returns once it follows them.
func Watch(ctx context.Context, log *slog.Logger, changed func(), paths ...string) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching files: %w", err)
	}
	w := watch{Watcher: watcher, log: log, paths: paths, changed: changed}
	if err := w.follow(); err != nil {
		watcher.Close()
		return err
	}
	go w.run(ctx)
	return nil
}

type watch struct {
	*fsnotify.Watcher
	log     *slog.Logger
	paths   []string
	changed func()
}

// follow adds the folders as they are now: links may have moved.
func (w watch) follow() error {
	for _, path := range w.paths {
		for _, folder := range folders(path) {
			if err := w.Add(folder); err != nil {
				return fmt.Errorf("watching %s: %w", folder, err)
			}
		}
	}
	return nil
}

// folders are those in which something about a path can change.
func folders(path string) []string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return []string{path}
	}
	all := []string{filepath.Dir(path)}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		all = append(all, filepath.Dir(target))
	}
	return all
}

func (w watch) run(ctx context.Context) {
	defer w.Close()
	settled := time.NewTimer(0)
	settled.Stop()
	gathering := false
	for {
		select {
		case <-w.Events:
			if !gathering {
				gathering = true
				settled.Reset(settle)
			}
		case <-settled.C:
			gathering = false
			if err := w.follow(); err != nil {
				w.log.Warn(err.Error())
			}
			w.changed()
		case err := <-w.Errors: // events were lost: look
			w.log.Warn("watching files", "error", err.Error())
			w.changed()
		case <-ctx.Done():
			return
		}
	}
}
