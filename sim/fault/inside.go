package fault

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// rootOf is where we find the files of a process; empty where it has the same root
// as we.
func rootOf(pid int) (string, error) {
	root := fmt.Sprintf("/proc/%d/root", pid)
	theirs, err := os.Stat(root + "/.")
	if err != nil {
		return "", err
	}
	ours, err := os.Stat("/")
	if err != nil {
		return "", err
	}
	if os.SameFile(ours, theirs) {
		return "", nil
	}
	return root, nil
}

// inside is a command as nginx's master would run it: with its files and network,
// and as its user. As anybody else, nginx would give its folders to another user.
// What it writes to becomes that user's, too: a log of nginx's that is /dev/stderr is
// opened once more.
func inside(pid int, command []string, output *os.File) ([]string, error) {
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

// withFilesOf calls f where the files are those that a process sees, on a thread
// that ends with it.
func withFilesOf(pid int, f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: no other goroutine gets it
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
