package behave_test

import (
	"fmt"

	"windtunnel.dev/sim/behave"
)

func ExampleJudge() {
	c, err := behave.Parse("cases/redirects/slash.yaml", []byte(`
apiVersion: windtunnel.dev/v1
kind: Case
spec:
  summary: a path with a slash at the end redirects the path without it
  steps:
  - request: GET http://slash.example/shop
    expect: {status: 301, headers: {Location: http://slash.example/shop/}}
`), behave.Known{})
	if err != nil {
		fmt.Println(err)
		return
	}
	recorded := []behave.Exchange{{Status: 404}}
	for _, failure := range behave.Judge(c, c.Steps[0], recorded, false).Failures {
		fmt.Println(failure)
	}
	// Output:
	// cases/redirects/slash.yaml:7: GET http://slash.example/shop: status is 404, want 301
	// cases/redirects/slash.yaml:7: GET http://slash.example/shop: header Location is absent, want "http://slash.example/shop/"
}
