package backend

import (
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// newScriptedGRPC returns a function that returns the gRPC server of a pod with a script. Each
// method of each service answers like AskMethod, but with the request's Description; WatchMethod
// streams.
func newScriptedGRPC(p *pod) func() *grpc.Server {
	return sync.OnceValue(func() *grpc.Server {
		return grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
			if method, _ := grpc.MethodFromServerStream(s); method == WatchMethod {
				return p.answerWatch(s)
			}
			return p.answerAnyCall(s)
		}))
	})
}

func (p *pod) answerAnyCall(s grpc.ServerStream) error {
	identity, a, err := p.readCall(s.Context(), s.RecvMsg)
	if err != nil {
		return err
	}
	if err := s.SendHeader(identity.metadata()); err != nil {
		return err
	}
	if !pause(s.Context(), a.answerTime()) {
		return s.Context().Err()
	}
	description, _ := s.Context().Value(descriptionKey{}).(Description)
	description.Identity = identity // with the checksum of the message, not of its frame
	return s.SendMsg(wrapperspb.String(string(description.encode())))
}
