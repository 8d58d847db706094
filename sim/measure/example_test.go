package measure_test

import (
	"fmt"
	"log"
	"strings"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
)

// From reduces an event log, usually a file, to the numbers of each subject.
func ExampleFrom() {
	events := strings.NewReader(`{"at":0,"run":{"schema":"windtunnel.dev/events/v1","scenario":"small","seed":1,"driver":"local","start":"2026-01-02T03:04:05Z","subjects":["bundled"]}}
{"at":0,"subject":"bundled","worker":{"pid":11,"master":1,"generation":1,"state":"active"}}
{"at":1000000000,"subject":"bundled","phase":{"name":"round-begin","round":1}}
{"at":2000000000,"subject":"bundled","worker":{"pid":12,"master":1,"generation":2,"state":"active"}}
{"at":2001000000,"subject":"bundled","request":{"lane":"post","method":"POST","host":"a.example","service":"demo/web","lag":100000,"took":900000,"cause":"reset"}}
{"at":3000000000,"subject":"bundled","request":{"lane":"post","method":"POST","host":"a.example","service":"demo/web","lag":100000,"took":900000,"status":200}}
{"at":9000000000,"subject":"bundled","phase":{"name":"round-end","round":1}}
`)
	result, _, err := measure.From(event.Read(events))
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range result.Subjects {
		fmt.Printf("%s: %d reload, %d of %d requests failed: %v\n", s.Name, s.Reloads, s.Requests.Failed, s.Requests.Sent, s.Requests.Causes)
	}
	// Output: bundled: 1 reload, 1 of 2 requests failed: map[reset:1]
}
