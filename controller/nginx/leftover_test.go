package nginx_test

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/internal/process"
)

// leave starts an nginx and leaves it running, like a killed controller. It returns its process and
// the paths of its folder, its PID file and its configuration.
func leave(t *testing.T) (p *nginx.Process, root, pidFile, conf string) {
	t.Helper()
	n := start(t, nginxtest.FreeAddress(t), "return 200;")
	return n.Process, n.Folder, filepath.Join(n.Folder, "nginx.pid"), filepath.Join(n.Folder, "nginx.conf")
}

func TestLeftoverNginxIsEnded(t *testing.T) {
	p, root, pidFile, conf := leave(t)
	if ended, err := nginx.EndLeftover(root, pidFile, conf); err != nil || ended != p.PID() {
		t.Errorf("ended %d, %v, want %d", ended, err, p.PID())
	}
	if left, err := process.Group(p.PID()); err != nil || len(left) > 0 {
		t.Errorf("processes %v are left, %v", left, err)
	}
	if ended, err := nginx.EndLeftover(root, pidFile, conf); err != nil || ended != 0 {
		t.Errorf("the second call ended %d, %v", ended, err)
	}
}

func TestLeftoverWorkersAreEnded(t *testing.T) {
	p, root, pidFile, conf := leave(t)
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if left, err := process.Group(p.PID()); err != nil || len(left) == 0 {
		t.Fatalf("workers %v, %v", left, err)
	}
	if ended, err := nginx.EndLeftover(root, pidFile, conf); err != nil || ended != p.PID() {
		t.Errorf("ended %d, %v, want %d", ended, err, p.PID())
	}
	if left, err := process.Group(p.PID()); err != nil || len(left) > 0 {
		t.Errorf("processes %v are left, %v", left, err)
	}
}

// Another process may have the PID in the file by now.
func TestOtherProcessesAreSpared(t *testing.T) {
	p, _, _, _ := leave(t)
	root := t.TempDir()
	pidFile := filepath.Join(root, "nginx.pid")
	for name, text := range map[string]string{
		"another nginx": strconv.Itoa(p.PID()), "not an nginx": strconv.Itoa(os.Getpid()), "init": "1", "no process": "4194304", "nothing": "", "a group": "-1",
	} {
		if err := os.WriteFile(pidFile, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if ended, err := nginx.EndLeftover(root, pidFile, filepath.Join(root, "nginx.conf")); err != nil || ended != 0 {
			t.Errorf("%s: ended %d, %v", name, ended, err)
		}
	}
	if workers, err := p.Workers(); err != nil || len(workers) != 2 {
		t.Errorf("workers %v, %v", workers, err)
	}
}
