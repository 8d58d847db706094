package render

import (
	"slices"
	"testing"
)

func TestPromotedFieldsAreSpelledOut(t *testing.T) {
	for _, test := range []struct{ read, found []string }{
		{[]string{"All", "Cfg", "UseGzip"}, []string{"All", "Cfg", "Config", "UseGzip"}},
		{[]string{"$cfg", "UseGzip"}, []string{"$cfg", "Config", "UseGzip"}},
		{[]string{"$location", "Proxy", "BodySize"}, []string{"$location", "Location", "Proxy", "BodySize"}},
		{[]string{"Cfg", "Resolver"}, []string{"Cfg", "Resolver"}},           // of cfg itself
		{[]string{"Cfg", "LoadBalancing"}, []string{"Cfg", "LoadBalancing"}}, // a method
		{[]string{"Location", "Path"}, []string{"Location", "Path"}},
		{[]string{"Server", "UseGzip"}, []string{"Server", "UseGzip"}},
		{[]string{"UseGzip"}, []string{"UseGzip"}},
	} {
		if got := spelledOut(test.read); !slices.Equal(got, test.found) {
			t.Errorf("%v is read as %v, want %v", test.read, got, test.found)
		}
	}
}
