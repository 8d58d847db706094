package controller_test

import (
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"testing"
	"testing/fstest"

	"golang.org/x/net/dns/dnsmessage"

	"windtunnel.dev/lua"
)

// nameserver answers queries for a few names with their IPv4 addresses.
type nameserver struct{ net.PacketConn }

func serveNames(t *testing.T, names map[string]string) nameserver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.88.250.2:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		for message := make([]byte, 512); ; {
			size, from, err := conn.ReadFrom(message)
			if err != nil {
				return
			}
			if answer, err := answer(message[:size], names); err == nil {
				conn.WriteTo(answer, from)
			}
		}
	}()
	return nameserver{conn}
}

func answer(packet []byte, names map[string]string) ([]byte, error) {
	var message dnsmessage.Message
	if err := message.Unpack(packet); err != nil {
		return nil, err
	}
	question := message.Questions[0]
	message.Header = dnsmessage.Header{ID: message.ID, Response: true, RecursionAvailable: true}
	address, known := names[question.Name.String()]
	switch {
	case !known:
		message.RCode = dnsmessage.RCodeNameError
	case question.Type == dnsmessage.TypeA:
		message.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: 60},
			Body:   &dnsmessage.AResource{A: netip.MustParseAddr(address).As4()},
		}}
	}
	message.Additionals = nil
	return message.Pack()
}

// lua returns our Lua code, with this nameserver in place of the machine's nameservers.
func (n nameserver) lua(t *testing.T) fs.FS {
	t.Helper()
	copied := fstest.MapFS{}
	err := fs.WalkDir(lua.FS, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(lua.FS, path)
		copied[path] = &fstest.MapFile{Data: data, Mode: 0o644}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(n.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	copied["util/resolv_conf.lua"].Data = fmt.Appendf(nil, "return { nameservers = { { %q, %s } }, search = {}, ndots = 1 }\n", host, port)
	return copied
}
