// Package files watches files that the controller does not write itself: a user's template, GeoIP
// databases. It stands between the file system and the sync. Its one rule: an event only means that
// a file may have changed; the receiver reads the current files.
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

// settle is how long events are collected before they are reported as one; writing a file causes
// several.
const settle = 50 * time.Millisecond

// retry is the interval at which Watch looks for a vanished folder.
const retry = time.Second

// Watch calls changed, never concurrently, when the folders of the paths or of their link targets
// change, until ctx is done. It returns once it watches them. A path is a folder, or a file that
// need not exist in a folder that must. Watch follows whole folders because Kubernetes updates a
// mounted file by swapping a link beside it, and editors rename a new file over the old one. If a
// folder vanishes, Watch looks for it until it is back.
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

// follow watches the current folders of the paths: links may have changed.
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

// folders returns the folders in which a change can affect a path.
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
	gathering, lost := false, false
	for {
		select {
		case <-w.Events:
			if !gathering {
				gathering = true
				settled.Reset(settle)
			}
		case <-settled.C:
			err := w.follow()
			gathering = err != nil
			if err != nil {
				settled.Reset(retry)
			}
			if err != nil && lost {
				continue // reported
			}
			if lost = err != nil; lost {
				w.log.Warn(err.Error())
			}
			w.changed()
		case err := <-w.Errors: // events were lost: assume a change
			w.log.Warn("watching files", "error", err.Error())
			w.changed()
		case <-ctx.Done():
			return
		}
	}
}
