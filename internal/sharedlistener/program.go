package sharedlistener

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// Offsets of the fields of struct bpf_sk_lookup that the program reads (linux/bpf.h). The fields are
// 32 bits wide; localPort has the byte order of the machine.
const (
	family    = 8
	protocol  = 12
	localIP4  = 40
	localPort = 60
)

// Offsets from the frame pointer.
const (
	keyAt   = -8  // an entry, which is 8 bytes
	valueAt = -12 // a slot of the sockets, which is 4 bytes
)

// lookup returns the program. It assigns the socket that the maps contain for a destination: entries maps
// an address, port and protocol to a slot of sockets. It returns SK_PASS in any case, so that the
// kernel's own lookup follows if there is none.
func lookup(entries, sockets *ebpf.Map) *ebpf.ProgramSpec {
	const pass, verdict = "pass", 1 // SK_PASS
	return &ebpf.ProgramSpec{
		Name: "shared_listener", Type: ebpf.SkLookup, AttachType: ebpf.AttachSkLookup, License: "Apache-2.0",
		Instructions: asm.Instructions{
			asm.Mov.Reg(asm.R6, asm.R1),
			asm.LoadMem(asm.R2, asm.R6, family, asm.Word),
			asm.JNE.Imm(asm.R2, unix.AF_INET, pass),

			// entry{address, port, protocol}
			asm.LoadMem(asm.R2, asm.R6, localIP4, asm.Word),
			asm.StoreMem(asm.RFP, keyAt, asm.R2, asm.Word),
			asm.LoadMem(asm.R2, asm.R6, localPort, asm.Word),
			asm.StoreMem(asm.RFP, keyAt+4, asm.R2, asm.Half),
			asm.LoadMem(asm.R2, asm.R6, protocol, asm.Word),
			asm.StoreMem(asm.RFP, keyAt+6, asm.R2, asm.Half),

			// r0 = entries[entry]
			asm.LoadMapPtr(asm.R1, entries.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, keyAt),
			asm.FnMapLookupElem.Call(),
			asm.JEq.Imm(asm.R0, 0, pass),

			// r7 = sockets[*r0], with a reference
			asm.LoadMem(asm.R2, asm.R0, 0, asm.Word),
			asm.StoreMem(asm.RFP, valueAt, asm.R2, asm.Word),
			asm.LoadMapPtr(asm.R1, sockets.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, valueAt),
			asm.FnMapLookupElem.Call(),
			asm.JEq.Imm(asm.R0, 0, pass),
			asm.Mov.Reg(asm.R7, asm.R0),

			// It fails only if another program has chosen a socket before.
			asm.Mov.Reg(asm.R1, asm.R6),
			asm.Mov.Reg(asm.R2, asm.R7),
			asm.Mov.Imm(asm.R3, 0),
			asm.FnSkAssign.Call(),

			asm.Mov.Reg(asm.R1, asm.R7),
			asm.FnSkRelease.Call(),

			asm.Mov.Imm(asm.R0, verdict).WithSymbol(pass),
			asm.Return(),
		},
	}
}
