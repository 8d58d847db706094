package kubeapi

import (
	"encoding/binary"
	"net/netip"
)

// nextClusterIP gives out the addresses of 10.96.0.0/12, Kubernetes' default
// service network, one after the other and none twice: nothing listens there.
func (s *Server) nextClusterIP() string {
	const network, size = 10<<24 | 96<<16, 1 << 20
	n := s.clusterIPs.Add(1) % (size - 1)
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], network+n)
	return netip.AddrFrom4(b).String()
}
