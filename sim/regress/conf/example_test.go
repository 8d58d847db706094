package conf_test

import (
	"fmt"
	"log"

	"windtunnel.dev/sim/regress/conf"
)

// Compare reports what differs for nginx. The order of prefix locations does not.
func ExampleCompare() {
	base, err := conf.Parse(`server { location /a { proxy_buffering on; } location /b { return 204; } }`)
	if err != nil {
		log.Fatal(err)
	}
	head, err := conf.Parse(`server { location /b { return 204; } location /a { proxy_buffering "off"; } }`)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range conf.Compare(base, head) {
		fmt.Printf("%s, line %d: %s -> %s\n", d.Place(), d.Head.Line, d.Base, d.Head)
	}
	// Output:
	// server/location, line 1: proxy_buffering on -> proxy_buffering off
}
