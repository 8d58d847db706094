package adapterstest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"windtunnel.dev/internal/command"
)

// stubConf is the part of the configuration that the stub of haproxy reads, from the first line.
type stubConf struct {
	Address string
	Version int
	Routes  []Route
}

func readConf(path string) (conf stubConf, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return conf, err
	}
	line, _, _ := bytes.Cut(bytes.TrimPrefix(text, []byte("# ")), []byte("\n"))
	return conf, json.Unmarshal(line, &conf)
}

// The environment variables in which the master passes its listener and the PID of its newest child
// to its next execution.
const (
	listenerFD = "STUB_LISTENER"
	newestPID  = "STUB_NEWEST"
)

// runMaster is a proxy with the flags and processes of haproxy -W. Each SIGUSR2 makes the master
// execute itself anew. Then it starts a child with the new configuration, and tells the older child to
// finish.
func runMaster(ctx context.Context, args []string) error {
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGUSR2)
	path := args[len(args)-1]
	listener, err := inheritListener(path)
	if err != nil {
		return err
	}
	child, err := startWorker(listener, path)
	if err != nil {
		return err
	}
	if older, err := strconv.Atoi(os.Getenv(newestPID)); err == nil {
		_ = syscall.Kill(older, syscall.SIGTERM) // it may have ended
	}
	go reap()
	select {
	case <-reload:
		return executeAnew(listener, child)
	case <-ctx.Done():
		_ = syscall.Kill(child, syscall.SIGTERM)
		return nil // the guard ends older ones
	}
}

// inheritListener returns the listener of the master's last execution or, at first, a new one.
func inheritListener(path string) (*os.File, error) {
	if fd, err := strconv.Atoi(os.Getenv(listenerFD)); err == nil {
		syscall.CloseOnExec(fd)
		return os.NewFile(uintptr(fd), "listener"), nil
	}
	conf, err := readConf(path)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", conf.Address)
	if err != nil {
		return nil, err
	}
	return listener.(*net.TCPListener).File()
}

// startWorker starts a child, and returns its PID when it serves.
func startWorker(listener *os.File, path string) (int, error) {
	ready, theirs, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer ready.Close()
	child := command.New(context.Background(), os.Args[0], worker, path)
	child.Stderr, child.ExtraFiles = os.Stderr, []*os.File{listener, theirs}
	if err := child.Start(); err != nil {
		return 0, err
	}
	theirs.Close()
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		return 0, fmt.Errorf("the worker does not serve: %w", err)
	}
	return child.Process.Pid, nil
}

// reap collects children that have ended, also those of earlier executions.
func reap() {
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); errors.Is(err, syscall.ECHILD) {
			return // until the next execution
		}
	}
}

func executeAnew(listener *os.File, child int) error {
	fd, err := syscall.Dup(int(listener.Fd())) // without close-on-exec
	if err != nil {
		return err
	}
	os.Setenv(listenerFD, strconv.Itoa(fd))
	os.Setenv(newestPID, strconv.Itoa(child))
	// A signal in between is lost: the next execution reads the newest configuration anyway.
	signal.Ignore(syscall.SIGUSR2)
	return syscall.Exec(os.Args[0], os.Args, os.Environ())
}

// runWorker answers requests by the configuration of its start, until it is told to finish.
func runWorker(ctx context.Context, args []string) error {
	conf, err := readConf(args[0])
	if err != nil {
		return err
	}
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		return err
	}
	p := newProxy()
	p.set(conf.Routes)
	p.version = versionPath(conf.Version)
	ready := os.NewFile(4, "ready")
	if _, err := ready.Write([]byte{1}); err != nil {
		return err
	}
	ready.Close()
	return p.serve(ctx, listener)
}
