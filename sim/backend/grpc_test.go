package backend

import (
	"errors"
	"io"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// A standard gRPC client works with a pod: a single answer at the requested time, a stream, and
// an error.
func TestGRPCCalls(t *testing.T) {
	p := ready(t, newFleet(t, nil), "demo/web-1")
	c, err := grpc.NewClient("passthrough:///"+p.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // of abc: FIPS 180-2, B.1

	var answer wrapperspb.StringValue
	var header metadata.MD
	begin := time.Now()
	slowly := metadata.AppendToOutgoingContext(t.Context(), TakeHeader, "50ms")
	if err := c.Invoke(slowly, AskMethod, wrapperspb.Bytes([]byte("abc")), &answer, grpc.Header(&header)); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 50*time.Millisecond {
		t.Errorf("an answer that takes 50 ms came after %v", took)
	}
	got, err := ParseIdentity([]byte(answer.GetValue()))
	if err != nil || got != (Identity{Pod: "demo/web-1", Service: "demo/web", State: Ready, Body: sum}) {
		t.Errorf("answer %+v, %v", got, err)
	}
	if pods := header.Get(PodHeader); len(pods) != 1 || pods[0] != "demo/web-1" {
		t.Errorf("the header contains the pods %v", pods)
	}

	stream, err := c.NewStream(metadata.AppendToOutgoingContext(t.Context(), EventsHeader, "3"), &grpc.StreamDesc{ServerStreams: true}, WatchMethod)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.SendMsg(wrapperspb.Bytes(nil)); err != nil {
		t.Fatal(err)
	}
	stream.CloseSend()
	messages := 0
	for ; err == nil; messages++ {
		err = stream.RecvMsg(&answer)
	}
	if !errors.Is(err, io.EOF) || messages != 4 {
		t.Errorf("%d messages, then %v; want 3", messages-1, err)
	}

	bad := metadata.AppendToOutgoingContext(t.Context(), TakeHeader, "soon")
	if err := c.Invoke(bad, AskMethod, wrapperspb.Bytes(nil), &answer); status.Code(err) != codes.InvalidArgument {
		t.Errorf("with the duration \"soon\": %v", err)
	}
}
