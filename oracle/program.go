package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs"
)

// program is a process that the oracle started.
type program struct {
	cmd *exec.Cmd
	log *os.File
}

// launch starts a program and writes its output to a file in dir.
func launch(dir, path string, args ...string) (*program, error) {
	log, err := os.Create(filepath.Join(dir, filepath.Base(path)+".log"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
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
