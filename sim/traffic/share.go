package traffic

// Share is the part of an attack's requests that one of several generators sends: those whose number
// is Index modulo Of. Each generator plans all of them, so together they send what one would send.
type Share struct {
	Index int // from 0
	Of    int // generators; 0 and 1: there is one
}

// has reports whether the request of a number, from 0, belongs to the share.
func (s Share) has(number uint64) bool {
	return s.Of <= 1 || number%uint64(s.Of) == uint64(s.Index)
}

func (s Share) valid() bool { return s.Index >= 0 && s.Index < max(s.Of, 1) }
