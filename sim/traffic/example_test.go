package traffic_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net/netip"
	"time"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/traffic"
)

// This sends POSTs for a quarter of a second at 200 per second. Every request is logged, with the
// cause if it failed.
func ExampleRun() {
	fleet := backend.New(backend.Options{Prefix: netip.MustParsePrefix("127.202.0.0/16"), Port: 18098})
	defer fleet.Stop()
	pod, err := fleet.Start("demo/web-1", "demo/web")
	if err == nil {
		err = pod.Ready()
	}
	if err != nil {
		log.Fatal(err)
	}

	var file bytes.Buffer
	events := event.NewLog(&file, time.Now())
	ctx, cancel := context.WithTimeout(context.Background(), 250*time.Millisecond)
	defer cancel()
	err = traffic.Run(ctx, traffic.Attack{
		Lane: "post", Rate: traffic.Arrivals{Rate: 200}.Pacer(1), To: pod.Addr(),
		Targets: []traffic.Target{{Host: "shop.example", Service: "demo/web"}},
		Log:     events,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := events.Close(); err != nil {
		log.Fatal(err)
	}
	sent, failed := 0, 0
	for e, err := range event.Read(&file) {
		if err != nil {
			log.Fatal(err)
		}
		if e.Request != nil {
			sent++
			if e.Request.Cause != "" {
				failed++
			}
		}
	}
	fmt.Println(sent > 0, failed)
	// Output: true 0
}
