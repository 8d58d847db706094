package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// program is a process that the oracle started.
type program struct {
	cmd *exec.Cmd
	log *os.File
}

// launcher starts programs.
type launcher struct {
	dir        string // gets their logs, and what the programs write
	processors string // that the programs are limited to, as taskset(1) reads them; empty: all
}

// launch starts a program and writes its output to a file.
func (l launcher) launch(path string, args ...string) (*program, error) {
	log, err := os.Create(filepath.Join(l.dir, filepath.Base(path)+".log"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	if l.processors != "" {
		cmd = exec.Command("taskset", append([]string{"--cpu-list", l.processors, path}, args...)...) // becomes the program
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		log.Close()
		return nil, fmt.Errorf("starting %s: %w; make oracle and make oracle-bench build it", path, err)
	}
	return &program{cmd, log}, nil
}

func (p *program) stop() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
	p.log.Close()
}

// cpu returns the CPU time of all programs of a server, with a resolution of ten milliseconds.
func (s *server) cpu() (time.Duration, error) {
	var seconds float64
	for _, p := range s.programs {
		proc, err := procfs.NewProc(p.cmd.Process.Pid)
		if err != nil {
			return 0, fmt.Errorf("CPU time of %s: %w", s.name, err)
		}
		stat, err := proc.Stat()
		if err != nil {
			return 0, fmt.Errorf("CPU time of %s: %w", s.name, err)
		}
		seconds += stat.CPUTime()
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// ownProcessors returns the processors that this process may use, separated by commas.
func ownProcessors() (string, error) {
	self, err := procfs.Self()
	if err != nil {
		return "", fmt.Errorf("looking for the processors of this process: %w", err)
	}
	status, err := self.NewStatus()
	if err != nil {
		return "", fmt.Errorf("looking for the processors of this process: %w", err)
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(status.CpusAllowedList), "[]"), " ", ","), nil
}
