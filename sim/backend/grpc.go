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

// The methods of a pod's gRPC service. Both accept a google.protobuf.BytesValue, whose checksum the
// answers have, and answer with google.protobuf.StringValue: the identity as JSON. The headers of
// behaviours, as metadata, ask for more.
const (
	GRPCService = "windtunnel.v1.Pod"
	// AskMethod answers once, after the time of TakeHeader.
	AskMethod = "/" + GRPCService + "/Ask"
	// WatchMethod is a server stream of EventsHeader messages over that time.
	WatchMethod = "/" + GRPCService + "/Watch"
)

// grpcProtocol recognizes calls as gRPC over HTTP/2 defines them, in "Requests".
var grpcProtocol = protocol{
	speaks: func(r *http.Request) bool {
		return r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc")
	},
	serve: func(p *pod, w http.ResponseWriter, r *http.Request) { p.grpc().ServeHTTP(w, r) },
}

// newGRPC returns the pod's gRPC server. The pod's HTTP server calls it: that one accepts HTTP/2
// without TLS (h2c), which nginx's grpc_pass speaks.
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
	identity, a, err := p.readCall(ctx, read)
	if err != nil {
		return nil, err
	}
	if err := grpc.SendHeader(ctx, identity.metadata()); err != nil {
		return nil, err
	}
	if !pause(ctx, a.answerTime()) {
		return nil, ctx.Err()
	}
	return wrapperspb.String(string(encoded(identity))), nil
}

func (p *pod) answerWatch(s grpc.ServerStream) error {
	identity, a, err := p.readCall(s.Context(), s.RecvMsg)
	if err != nil {
		return err
	}
	if err := s.SendHeader(identity.metadata()); err != nil {
		return err
	}
	for range a[EventsHeader] {
		if err := s.SendMsg(wrapperspb.String(string(encoded(identity)))); err != nil {
			return err
		}
		if !pause(s.Context(), a.answerTime()/time.Duration(a[EventsHeader])) {
			return s.Context().Err()
		}
	}
	return nil
}

// readCall reads a call's message and the headers of behaviours in its metadata.
func (p *pod) readCall(ctx context.Context, read func(any) error) (Identity, requested, error) {
	var message wrapperspb.BytesValue
	if err := read(&message); err != nil {
		return Identity{}, nil, err
	}
	headers := http.Header{}
	sent, _ := metadata.FromIncomingContext(ctx)
	for name, values := range sent {
		headers[http.CanonicalHeaderKey(name)] = values
	}
	a, err := readRequested(headers)
	if err != nil {
		return Identity{}, nil, status.Error(codes.InvalidArgument, err.Error())
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
