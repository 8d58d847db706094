package backend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The methods of a pod's gRPC service. Both take a google.protobuf.BytesValue,
// whose checksum the answers tell, and answer with google.protobuf.StringValue:
// the identity as JSON. The headers of ask.go, as metadata, say what else is
// asked for.
const (
	GRPCService = "windtunnel.v1.Pod"
	// AskMethod answers once, after the time of TakeHeader.
	AskMethod = "/" + GRPCService + "/Ask"
	// WatchMethod is a server stream of EventsHeader messages over that time.
	WatchMethod = "/" + GRPCService + "/Watch"
)

// isGRPC says that a request is a call (gRPC over HTTP/2, "Requests").
func isGRPC(r *http.Request) bool {
	return r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc")
}

// newGRPC is the pod's gRPC server. It is served by the pod's HTTP server, which
// takes HTTP/2 without TLS (h2c) as nginx's grpc_pass speaks it.
func newGRPC(p *pod) *grpc.Server {
	server := grpc.NewServer()
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: GRPCService,
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "Ask",
			Handler: func(_ any, ctx context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				return p.answerCall(ctx, read)
			},
		}},
		Streams: []grpc.StreamDesc{{
			StreamName:    "Watch",
			ServerStreams: true,
			Handler:       func(_ any, s grpc.ServerStream) error { return p.answerWatch(s) },
		}},
	}, p)
	return server
}

func (p *pod) answerCall(ctx context.Context, read func(any) error) (any, error) {
	identity, a, err := p.called(ctx, read)
	if err != nil {
		return nil, err
	}
	if err := grpc.SendHeader(ctx, identity.metadata()); err != nil {
		return nil, err
	}
	if !pause(ctx, a.take) {
		return nil, ctx.Err()
	}
	return wrapperspb.String(string(encoded(identity))), nil
}

func (p *pod) answerWatch(s grpc.ServerStream) error {
	identity, a, err := p.called(s.Context(), s.RecvMsg)
	if err != nil {
		return err
	}
	if err := s.SendHeader(identity.metadata()); err != nil {
		return err
	}
	for range a.events {
		if err := s.SendMsg(wrapperspb.String(string(encoded(identity)))); err != nil {
			return err
		}
		if !pause(s.Context(), a.take/time.Duration(a.events)) {
			return s.Context().Err()
		}
	}
	return nil
}

// called reads a call's message and what its metadata asks for.
func (p *pod) called(ctx context.Context, read func(any) error) (Identity, asked, error) {
	var message wrapperspb.BytesValue
	if err := read(&message); err != nil {
		return Identity{}, asked{}, err
	}
	headers := http.Header{}
	sent, _ := metadata.FromIncomingContext(ctx)
	for name, values := range sent {
		headers[http.CanonicalHeaderKey(name)] = values
	}
	a, err := readAsked(headers)
	if err != nil {
		return Identity{}, asked{}, status.Error(codes.InvalidArgument, err.Error())
	}
	sum := sha256.Sum256(message.GetValue())
	return p.identity(hex.EncodeToString(sum[:])), a, nil
}

func (i Identity) metadata() metadata.MD {
	headers := http.Header{}
	i.setHeaders(headers)
	md := metadata.MD{}
	for name, values := range headers {
		md.Set(name, values...)
	}
	return md
}

// pause says whether the caller is still there when the time is over.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
