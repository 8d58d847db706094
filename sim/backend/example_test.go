package backend_test

import (
	"fmt"
	"log"
	"net/http"
	"net/netip"

	"windtunnel.dev/sim/backend"
)

// A pod listens on its own address, and its answers contain its name.
func Example() {
	fleet := backend.New(backend.Options{Prefix: netip.MustParsePrefix("127.200.0.0/16"), Port: 18099})
	defer fleet.Stop()
	pod, err := fleet.Start("demo/web-1", "demo/web")
	if err != nil {
		log.Fatal(err)
	}
	if err := pod.Ready(); err != nil {
		log.Fatal(err)
	}
	response, err := http.Get("http://" + pod.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	response.Body.Close()
	who := backend.IdentityOf(response.Header)
	fmt.Println(pod.Addr(), who.Pod, who.Service, who.State)

	pod.Gone() // connections are refused from now on
	_, err = http.Get("http://" + pod.Addr().String())
	fmt.Println(err != nil)
	// Output:
	// 127.200.0.1:18099 demo/web-1 demo/web ready
	// true
}
