package render

import "windtunnel.dev/controller/conf"

// Pieces returns the pieces of servers and redirects.
func (memo *Memo) Pieces() map[*conf.Piece]bool {
	set := make(map[*conf.Piece]bool)
	for _, piece := range memo.pieces {
		set[piece] = true
	}
	return set
}
