package annotations_test

import (
	"testing"

	"windtunnel.dev/controller/annotations"
)

// BenchmarkParse measures the cost of parsing an ingress by the number of its annotations.
func BenchmarkParse(b *testing.B) {
	for name, given := range map[string]string{
		"none":  "",
		"a few": "rewrite-target: /$1\nuse-regex: \"true\"\nproxy-body-size: 8m\nproxy-read-timeout: \"120\"",
	} {
		b.Run(name, func(b *testing.B) {
			in, opts := ingress(b, given), with(b, "")
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := annotations.Parse(in, opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
