package event_test

import (
	"fmt"
	"log"
	"strings"

	"windtunnel.dev/sim/event"
)

// The one pointer of an event that is set determines its kind.
func ExampleRead() {
	events := strings.NewReader(`{"at":1000000000,"subject":"bundled","phase":{"name":"round-begin","round":1}}
{"at":1500000000,"subject":"bundled","fault":{"name":"worker-kill","healed":false}}
{"at":1502000000,"subject":"bundled","request":{"lane":"post","method":"POST","host":"a.example","service":"demo/web","lag":0,"took":900000,"cause":"reset"}}
`)
	for e, err := range event.Read(events) {
		switch {
		case err != nil:
			log.Fatal(err)
		case e.Fault != nil:
			fmt.Println(e.At, e.Fault.Name)
		case e.Request != nil && e.Request.Cause != "":
			fmt.Println(e.At, e.Request.Lane, "lost:", e.Request.Cause)
		}
	}
	// Output:
	// 1.5s worker-kill
	// 1.502s post lost: reset
}
