package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/driver"
)

const (
	// logPatience is how long to wait after an answer for lines that must not appear. nginx writes
	// the lines of a request after it has sent the answer.
	logPatience = 300 * time.Millisecond
	// logQuiet is how long to wait for the lines of earlier requests before a step that counts
	// lines, if no line shows that it is the last one.
	logQuiet = 50 * time.Millisecond
	// logPoll is the time between two reads of a log.
	logPoll = 5 * time.Millisecond
)

// The default paths of nginx's logs, and the ConfigMap keys that replace them, the first key first.
var (
	accessLog = logPath{"/var/log/nginx/access.log", []string{"http-access-log-path", "access-log-path"}}
	errorLog  = logPath{"/var/log/nginx/error.log", []string{"error-log-path"}}
)

type logPath struct {
	path string
	keys []string
}

// in returns the path of the log with this ConfigMap. root is the root of nginx's files, and output
// is the file with everything that the controller prints.
func (l logPath) in(root, output string, config map[string]string) string {
	path := l.path
	for _, key := range slices.Backward(l.keys) {
		path = cmp.Or(meant(config, key), path)
	}
	switch path {
	case "/dev/stdout", "/dev/stderr":
		return output
	}
	return filepath.Join(root, path)
}

// meant returns the value of a ConfigMap key, even if the key has the prefix behave.Ignored.
func meant(config map[string]string, key string) string {
	return cmp.Or(config[key], config[behave.Ignored+key])
}

// follower reads the lines that are added to a file.
type follower struct {
	path   string
	offset int64
}

// lines returns the lines that were completed since the last call. A file that does not exist has
// none.
func (f *follower) lines() ([]string, error) {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Seek(f.offset, io.SeekStart); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	f.offset += int64(len(text))
	if len(text) == 0 {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), nil
}

// stepLogs are nginx's logs since a step began.
type stepLogs struct {
	expected       []behave.Expect
	access, errors *follower
}

// followLogs follows nginx's logs from now on. It returns nil if the step expects nothing of them,
// or if they cannot be read.
func (i *installation) followLogs(ctx context.Context, step behave.Step) (*stepLogs, error) {
	expected := wanted(step)
	if !slices.ContainsFunc(expected, func(e behave.Expect) bool { return e.AccessLog != nil || e.ErrorLog != nil }) {
		return nil, nil
	}
	files, ok := i.instance.(driver.Files)
	if !ok || files.FileRoot() == "" {
		return nil, nil
	}
	output := filepath.Join(i.dir, "controller.log")
	logs := &stepLogs{
		expected: expected,
		access:   &follower{path: accessLog.in(files.FileRoot(), output, i.config)},
		errors:   &follower{path: errorLog.in(files.FileRoot(), output, i.config)},
	}
	if i.syslog != nil {
		logs.access.path, logs.errors.path = i.syslog.access, i.syslog.errors
	}
	return logs, i.skipLogs(ctx, logs)
}

// skipLogs skips the present content of the logs, and the lines that nginx still has to write about
// earlier requests. It sends a request of its own: a worker writes the lines of earlier requests
// before it answers, so the line of this request is the last one to skip.
func (i *installation) skipLogs(ctx context.Context, logs *stepLogs) error {
	if _, err := logs.access.lines(); err != nil {
		return err
	}
	_, _ = i.ask(ctx, i.visitor()) // whatever the answer: nginx has logged what came before
	for began := time.Now(); time.Since(began) < logQuiet; {
		lines, err := logs.access.lines()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(lines, ofSentinel) {
			break
		}
		if err := pause(ctx, logPoll); err != nil {
			return err
		}
	}
	_, err := logs.errors.lines()
	return err
}

func ofSentinel(line string) bool { return strings.Contains(line, sentinel) }

// collect returns the lines of the logs when further lines would not change the result of the step,
// or are not expected any more.
func (l *stepLogs) collect(ctx context.Context) (access, errors []string, err error) {
	if l == nil {
		return nil, nil, nil
	}
	for began := time.Now(); ; {
		waited := time.Since(began)
		if access, err = l.access.more(access); err != nil {
			return nil, nil, err
		}
		if errors, err = l.errors.more(errors); err != nil {
			return nil, nil, err
		}
		if waited > patience || waited > logPatience && !l.lacks(access, errors) || l.settled(access, errors) {
			return access, errors, nil
		}
		if err := pause(ctx, logPoll); err != nil {
			return nil, nil, err
		}
	}
}

// more appends the new lines, except for those about the sentinel.
func (f *follower) more(before []string) ([]string, error) {
	lines, err := f.lines()
	return append(before, slices.DeleteFunc(lines, ofSentinel)...), err
}

// lacks reports whether expected lines are missing.
func (l *stepLogs) lacks(access, errors []string) bool {
	return slices.ContainsFunc(l.expected, func(e behave.Expect) bool {
		return e.AccessLog.Lacks(access) || e.ErrorLog.Lacks(errors)
	})
}

func (l *stepLogs) settled(access, errors []string) bool {
	return !slices.ContainsFunc(l.expected, func(e behave.Expect) bool {
		return !e.AccessLog.Settled(access) || !e.ErrorLog.Settled(errors)
	})
}

// pause waits, or returns why the run ended.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
