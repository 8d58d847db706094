package fault

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// rootOf returns the path at which this process finds the files that another process sees, or an
// empty text if both see the same files. Processes with the same root may still see different files
// because of their mount namespaces. Our namespace is that of this thread, because /proc/self
// stands for the main thread, which withFilesOf may have moved.
func rootOf(pid int) (string, error) {
	root := fmt.Sprintf("/proc/%d/root", pid)
	for _, pair := range [][2]string{{"/", root + "/."}, {"/proc/thread-self/ns/mnt", fmt.Sprintf("/proc/%d/ns/mnt", pid)}} {
		ours, err := os.Stat(pair[0])
		if err != nil {
			return "", err
		}
		theirs, err := os.Stat(pair[1])
		if err != nil {
			return "", err
		}
		if !os.SameFile(ours, theirs) {
			return root, nil
		}
	}
	return "", nil
}

// commandInside returns a command line that runs a command as nginx's master would: in its
// namespaces, and as its user. As another user, nginx would change the owner of its folders. The
// output file gets that owner, too, because nginx opens it again if it logs to /dev/stderr.
func commandInside(pid int, command []string, output *os.File) ([]string, error) {
	info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return nil, err
	}
	owner := info.Sys().(*syscall.Stat_t) // as on any Unix
	if err := output.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
		return nil, err
	}
	return append([]string{"nsenter", "--target", strconv.Itoa(pid), "--all",
		"--setuid", strconv.Itoa(int(owner.Uid)), "--setgid", strconv.Itoa(int(owner.Gid)), "--"}, command...), nil
}

// withFilesOf calls f with the files that a process sees (its mount namespace), on a thread that
// ends afterwards.
func withFilesOf(pid int, f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, so that no other goroutine runs on it
		done <- func() error {
			namespace, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", pid))
			if err != nil {
				return err
			}
			defer namespace.Close()
			if err := unix.Unshare(unix.CLONE_FS); err != nil {
				return fmt.Errorf("%w: %w", ErrNotHere, err)
			}
			if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNS); err != nil {
				return fmt.Errorf("%w: entering nginx's container: %w", ErrNotHere, err)
			}
			return f()
		}()
	}()
	return <-done
}
