package derive

import (
	"maps"
	"slices"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
)

// Each annotation of the controller has questions, or a reason for having none.
func TestEveryAnnotationHasItsPlace(t *testing.T) {
	places := map[string]int{}
	for _, topic := range topics {
		for _, name := range topic.of {
			places[name]++
		}
	}
	var with []string
	for _, topic := range topics {
		with = append(with, topic.with...)
	}
	slices.Sort(with)
	for _, name := range slices.Compact(with) { // several topics may share one
		if places[name] == 0 {
			places[name]++
		}
	}
	for name, why := range silent {
		places[name]++
		if why == "" {
			t.Errorf("annotation %s has neither questions nor a reason", name)
		}
	}
	known := annotations.Names()
	for _, name := range known {
		if places[name] != 1 {
			t.Errorf("annotation %s is in %d places of the tables, want 1", name, places[name])
		}
	}
	for name := range places {
		if !slices.Contains(known, name) {
			t.Errorf("the tables have an annotation %s, which the controller does not know", name)
		}
	}
}

// Each key in the tables is a key of the ConfigMap, and is in one table only.
func TestConfigTables(t *testing.T) {
	places := map[string]int{}
	for _, names := range [][]string{slices.Collect(maps.Keys(ofMachine)), slices.Collect(maps.Keys(configTopics)), everywhere} {
		for _, name := range names {
			places[name]++
		}
	}
	for name, n := range places {
		if !slices.Contains(options.Names(), name) {
			t.Errorf("the tables have a key %s, which the ConfigMap does not know", name)
		}
		if n != 1 {
			t.Errorf("key %s is in %d tables", name, n)
		}
	}
}

func TestNear(t *testing.T) {
	for text, want := range map[string][]string{
		"/":        {"/windtunnel"},
		"/shop":    {"/shop/", "/shop/windtunnel", "/shopwindtunnel", "/Shop"},
		"/shop/":   {"/shop", "/shop/windtunnel", "/shopwindtunnel", "/Shop"},
		"/%C3%A4":  {"/%C3%A4/", "/%C3%A4/windtunnel", "/%C3%A4windtunnel"},
		"/2024/%2": {"/2024/%2/", "/2024/%2/windtunnel", "/2024/%2windtunnel"},
	} {
		if got := near(&path{ingress: &ingress{}}, text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	for lists, want := range map[string][2]string{
		"10.1.0.0/16, 192.168.7.7":         {"10.1.0.1", "203.0.113.77"},
		"192.168.7.7":                      {"192.168.7.7", "203.0.113.77"},
		"203.0.113.0/24,198.51.100.0/24":   {"203.0.113.1", "192.0.2.77"},
		"0.0.0.0/0":                        {"0.0.0.1", ""},
		"nonsense, ::/0, 198.51.100.0/255": {"", ""},
	} {
		inside, outside, ok := addresses(lists)
		if got := [2]string{inside, outside}; got != want || ok != (want[0] != "") {
			t.Errorf("%s: %q %v, want %q", lists, got, ok, want)
		}
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]int64{"8": 8, "8k": 8192, "2M": 2 << 20, "1g": 1 << 30, "0": 0, "": -1, "k": -1, "-1": -1, "8kb": -1, "99999999999": -1} {
		got, ok := size(text)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestLabel(t *testing.T) {
	for text, want := range map[string]string{
		"shop.example": "shop-example", "Shop_1": "shop-1", "9to5": "n9to5", "...": "n", "a.-": "a",
		"a-very-long-name-of-a-secret-that-goes-on-and-on-and-on": "a-very-long-name-of-a-secret-that-e6d9f8",
	} {
		got := label(text)
		if len(text) > longestName {
			if len(got) > longestName || got[:20] != want[:20] {
				t.Errorf("%s: %s", text, got)
			}
		} else if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
