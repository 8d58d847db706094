package fault

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// writeWatch counts writes to the files of a folder, with inotify(7).
type writeWatch struct{ notify *os.File }

func watchWrites(dir string) (writeWatch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return writeWatch{}, fmt.Errorf("watching what is written to %s: %w", dir, err)
	}
	w := writeWatch{os.NewFile(uintptr(fd), "inotify")}
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CLOSE_WRITE|unix.IN_ONLYDIR); err != nil {
		return writeWatch{}, errors.Join(fmt.Errorf("watching what is written to %s: %w", dir, err), w.notify.Close())
	}
	return w, nil
}

// count ends the watch. It returns how often a file that was open for writing was closed, whether
// or not the writes succeeded.
func (w writeWatch) count() (n int, err error) {
	defer w.notify.Close()
	raw, err := w.notify.SyscallConn()
	if err != nil {
		return 0, err
	}
	buffer := make([]byte, 1<<16)
	for {
		var size int
		var failed error
		if err := raw.Control(func(fd uintptr) { size, failed = unix.Read(int(fd), buffer) }); err != nil {
			return n, err
		}
		if errors.Is(failed, unix.EAGAIN) {
			return n, nil // there are no more events
		}
		if failed != nil {
			return n, failed
		}
		for at := 0; at+unix.SizeofInotifyEvent <= size; {
			at += unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buffer[at+12:])) // its last field: the length of the name that follows
			n++
		}
	}
}
