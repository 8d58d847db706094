package run

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// syslogServer receives what nginx logs to syslog. It writes the lines into two files, so that they
// are read like nginx's own.
type syslogServer struct {
	wanted         netip.AddrPort // port 0: any
	address        netip.AddrPort
	access, errors string // the files
	socket         *net.UDPConn
	done           chan error
}

// syslogAddress returns where nginx logs to with this ConfigMap, if that is syslog on this machine.
// Port 0 stands for any free one: another process may use the port that the case names.
func syslogAddress(config map[string]string) (netip.AddrPort, bool) {
	enabled, _ := strconv.ParseBool(meant(config, "enable-syslog"))
	host, err := netip.ParseAddr(meant(config, "syslog-host"))
	if !enabled || err != nil || !host.IsLoopback() {
		return netip.AddrPort{}, false
	}
	if meant(config, "syslog-port") == "" {
		return netip.AddrPortFrom(host, 514), true
	}
	return netip.AddrPortFrom(host, 0), true
}

// listenToSyslog receives what nginx logs to syslog with this ConfigMap, and nothing otherwise. It
// writes the port into the ConfigMap if that names one.
func (i *installation) listenToSyslog(config map[string]string) error {
	address, ok := syslogAddress(config)
	if !ok || i.syslog == nil || i.syslog.wanted != address {
		if err := i.syslog.close(); err != nil {
			return err
		}
		i.syslog = nil
		if !ok {
			return nil
		}
		server, err := serveSyslog(address, i.dir)
		if err != nil {
			return err
		}
		i.syslog = server
	}
	if address.Port() == 0 && config["syslog-port"] != "" {
		config["syslog-port"] = strconv.Itoa(int(i.syslog.address.Port()))
	}
	return nil
}

func serveSyslog(address netip.AddrPort, dir string) (*syslogServer, error) {
	socket, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(address))
	if err != nil {
		return nil, fmt.Errorf("listen for syslog: %w", err)
	}
	s := &syslogServer{
		wanted: address, address: socket.LocalAddr().(*net.UDPAddr).AddrPort(), socket: socket, done: make(chan error, 1),
		access: filepath.Join(dir, "syslog-access.log"), errors: filepath.Join(dir, "syslog-error.log"),
	}
	go func() { s.done <- s.receive() }()
	return s, nil
}

// close ends the server, if there is one, when everything that has arrived is written.
func (s *syslogServer) close() error {
	if s == nil {
		return nil
	}
	s.socket.Close()
	return <-s.done
}

var (
	// syslogHead is what nginx puts before each line (RFC 3164).
	syslogHead = regexp.MustCompile(`^<\d+>\w{3} [ \d]\d [\d:]{8} \S+ nginx: `)
	// ofErrorLog is the beginning of a line of an error log.
	ofErrorLog = regexp.MustCompile(`^\d{4}/\d\d/\d\d [\d:]{8} \[\w+\] `)
)

func (s *syslogServer) receive() error {
	packet := make([]byte, 1<<16)
	for {
		n, err := s.socket.Read(packet)
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		line := bytes.TrimRight(syslogHead.ReplaceAll(packet[:n], nil), "\n")
		path := s.access
		if ofErrorLog.Match(line) {
			path = s.errors
		}
		if err := appendLine(path, line); err != nil {
			return err
		}
	}
}

func appendLine(path string, line []byte) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}
