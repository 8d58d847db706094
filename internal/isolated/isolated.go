// Package isolated gives a command its own view of this machine: its own folders, at paths that the
// machine also uses or that do not exist there, and its own processes. It uses Linux's mount, PID
// and, unless this process runs as root, user namespaces. Its one rule: nothing outside the
// namespaces changes.
package isolated

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"windtunnel.dev/internal/process"
)

// View is what a command sees instead of the machine's files and processes.
type View struct {
	// Folders maps paths in the view to the folders that the command sees there. A path need not exist on
	// the machine, but its first element must, such as /etc. With Root, they are paths below that root,
	// and missing ones are created.
	Folders map[string]string
	// Processes hides all processes but the command's own.
	Processes bool
	// Scratch is an empty folder, which stays empty. It is required if a path of Folders does not exist,
	// except with Root.
	Scratch string
	// Root is a folder that the command sees as the whole file system, with /proc, /sys (read-only) and a
	// small /dev. It requires root privileges.
	Root string
	// User is the user that runs the command, with Root. Nil means that of this process.
	User *User
}

// Command is a command line that is run with a view.
type Command struct {
	Path string
	Args []string
	Env  []string
	Dir  string // "" means that of this process or, with View.Root, "/"
	User *User  // nil means that of this process
}

// User is the user that runs a command.
type User struct {
	UID, GID uint32
	Groups   []uint32 // besides GID
}

// stage is the input of the first process in the namespaces.
type stage struct {
	View    View
	Command Command
	Try     bool // set up the view, and run nothing
}

// Wrap returns a command line that runs a command with this view. It must be started with Attributes.
// The wrapper stays as the parent of the command: it passes signals on to it, adopts the processes that
// the command leaves behind, and ends with it.
func (v View) Wrap(c Command) (Command, error) {
	return stage{View: v, Command: c}.wrap()
}

func (s stage) wrap() (Command, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return Command{}, err
	}
	wrapper := Command{Path: "/proc/self/exe", Args: []string{name, string(text)}, Env: s.Command.Env, Dir: s.Command.Dir}
	if s.View.Root != "" {
		wrapper.Dir = "" // the command's folder is in the view only
	}
	return wrapper, nil
}

// Attributes adds the attributes with which the command line of Wrap must be started.
func (v View) Attributes(attributes *syscall.SysProcAttr) {
	attributes.Cloneflags |= unix.CLONE_NEWNS
	if v.Processes {
		attributes.Cloneflags |= unix.CLONE_NEWPID
	}
	if os.Geteuid() != 0 { // in a user namespace, this user is root
		attributes.Cloneflags |= unix.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
}

// Allowed returns nil if this process may isolate commands; otherwise the error says why not.
var Allowed = sync.OnceValue(func() error {
	if err := try(); err != nil {
		return fmt.Errorf("this process may not make namespaces of its own (%w)", err)
	}
	return nil
})

// tryLimit is how long it may take to set up a view.
const tryLimit = 10 * time.Second

// try sets up a view without a command.
func try() error {
	anywhere := os.TempDir() // a folder that exists needs no Scratch
	v := View{Folders: map[string]string{anywhere: anywhere}, Processes: true}
	c, err := stage{View: v, Try: true}.wrap()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), tryLimit)
	defer cancel()
	attempt := exec.CommandContext(ctx, c.Path)
	attempt.Args, attempt.SysProcAttr, attempt.WaitDelay = c.Args, &syscall.SysProcAttr{}, outputDelay
	v.Attributes(attempt.SysProcAttr)
	if said, err := attempt.CombinedOutput(); err != nil {
		if text := strings.TrimSpace(string(said)); text != "" {
			return fmt.Errorf("%s", text)
		}
		return err
	}
	return nil
}

// Main returns the PID of the command that a wrapper runs; 0 if it has not started yet.
func Main(wrapper int) int {
	var main int
	var first uint64
	for _, pid := range process.Children(wrapper) {
		if started, err := process.StartTime(pid); err == nil && (main == 0 || started < first) {
			main, first = pid, started // processes that it adopts started later
		}
	}
	return main
}

// Is reports whether a process of this machine has the PID inner in its own view.
func Is(pid, inner int) bool { return process.InnerPID(pid) == inner }

// HostPID returns the PID on this machine of the process that has the given PID in the view of a wrapper's
// command; 0 if there is none.
func HostPID(wrapper, pid int) int {
	for _, one := range process.Below(wrapper) {
		if Is(one, pid) {
			return one
		}
	}
	return 0
}
