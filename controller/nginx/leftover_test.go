package nginx

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"windtunnel.dev/internal/process"
)

// leave starts an nginx in a folder and leaves it running, like a killed controller.
func leave(t *testing.T) (p *Process, conf, pidFile string) {
	t.Helper()
	conf = write(t, freeAddress(t), "return 200;")
	text, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(filepath.Dir(conf), "error.log") // as in the controller's nginx.conf
	if err := os.WriteFile(conf, []byte(strings.Replace(string(text), "error_log stderr", "error_log "+log, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	return start(t, found(t), conf), conf, filepath.Join(filepath.Dir(conf), "nginx.pid")
}

func TestLeftoverNginxIsEnded(t *testing.T) {
	p, conf, pidFile := leave(t)
	if ended, err := EndLeftover(filepath.Dir(conf), pidFile, conf); err != nil || ended != p.PID() {
		t.Errorf("ended %d, %v, want %d", ended, err, p.PID())
	}
	if left, err := process.Group(p.PID()); err != nil || len(left) > 0 {
		t.Errorf("processes %v are left, %v", left, err)
	}
	if ended, err := EndLeftover(filepath.Dir(conf), pidFile, conf); err != nil || ended != 0 {
		t.Errorf("the second time: ended %d, %v", ended, err)
	}
}

func TestLeftoverWorkersAreEnded(t *testing.T) {
	p, conf, pidFile := leave(t)
	root := filepath.Dir(conf)
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if left, err := process.Group(p.PID()); err != nil || len(left) == 0 {
		t.Fatalf("workers %v, %v", left, err)
	}
	if ended, err := EndLeftover(root, pidFile, conf); err != nil || ended != p.PID() {
		t.Errorf("ended %d, %v, want %d", ended, err, p.PID())
	}
	if left, err := process.Group(p.PID()); err != nil || len(left) > 0 {
		t.Errorf("processes %v are left, %v", left, err)
	}
}

// Another process may have the PID in the file by now.
func TestOtherProcessesAreSpared(t *testing.T) {
	p, conf, _ := leave(t)
	root := t.TempDir()
	pidFile := filepath.Join(root, "nginx.pid")
	for name, text := range map[string]string{
		"another nginx": strconv.Itoa(p.PID()), "not an nginx": strconv.Itoa(os.Getpid()), "init": "1", "no process": "4194304", "nothing": "", "a group": "-1",
	} {
		if err := os.WriteFile(pidFile, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if ended, err := EndLeftover(root, pidFile, filepath.Join(root, "nginx.conf")); err != nil || ended != 0 {
			t.Errorf("%s: ended %d, %v", name, ended, err)
		}
	}
	if err := found(t).Test(t.Context(), conf); err != nil {
		t.Error(err)
	}
	if workers, err := p.Workers(); err != nil || len(workers) != 2 {
		t.Errorf("workers %v, %v", workers, err)
	}
}
