package guard

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"windtunnel.dev/internal/isolated"
)

// request asks a guard to start a command. The message carries a descriptor for the command's
// output.
type request struct {
	Path string
	Args []string // Args[0] is the name
	Env  []string
	Dir  string         // "" means that of the guard
	View *isolated.View // nil: the command sees the machine as it is
}

// reply is a message from the guard. The first reports the folder; the others report that a command
// has started, could not be started, or has ended.
type reply struct {
	Dir    string
	PID    int
	Error  string
	Ended  bool
	Status syscall.WaitStatus
}

// maxMessage is the maximum size of a message, in bytes: a command line and its environment.
const maxMessage = 1 << 20

// send writes one message, with file attached unless it is nil.
func send(to *net.UnixConn, message any, file *os.File) error {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(message); err != nil {
		return err
	}
	var rights []byte
	if file != nil {
		rights = syscall.UnixRights(int(file.Fd()))
	}
	_, _, err := to.WriteMsgUnix(text.Bytes(), rights, nil)
	return err
}

// receive reads one message and the file attached to it, nil if there is none. The error is io.EOF
// when the other side has closed the socket.
func receive(from *net.UnixConn, message any) (*os.File, error) {
	text, rights := make([]byte, maxMessage), make([]byte, syscall.CmsgSpace(4))
	n, nrights, flags, _, err := from.ReadMsgUnix(text, rights)
	if err != nil || n == 0 {
		return nil, errors.Join(io.EOF, err)
	}
	if flags&syscall.MSG_TRUNC != 0 {
		return nil, fmt.Errorf("message of more than %d bytes", maxMessage)
	}
	file, err := attached(rights[:nrights])
	if err != nil {
		return nil, err
	}
	return file, gob.NewDecoder(bytes.NewReader(text[:n])).Decode(message)
}

// attached returns the file in a message's control data, nil if there is none.
func attached(rights []byte) (*os.File, error) {
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	descriptors, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(descriptors) == 0 {
		return nil, err
	}
	return os.NewFile(uintptr(descriptors[0]), "output"), nil
}

// connection turns a socket into a net.UnixConn and closes the socket.
func connection(socket *os.File) (*net.UnixConn, error) {
	defer socket.Close()
	conn, err := net.FileConn(socket)
	if err != nil {
		return nil, err
	}
	return conn.(*net.UnixConn), nil // New creates a Unix socket pair
}
