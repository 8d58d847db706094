package metrics

import (
	"encoding/json"

	"github.com/prometheus/client_golang/prometheus"
)

// dictionaries is a collector that queries nginx's Lua at each scrape. If nginx does not answer, or
// its Lua code is not ours, the scrape does not contain these metrics.
type dictionaries struct {
	page           page
	capacity, free *prometheus.Desc
}

func newDictionaries(mint maker, url string) *dictionaries {
	const prefix = "lua_dictionary_"
	return &dictionaries{
		page:     newPage(url),
		capacity: mint.desc(prefix+"capacity_bytes", "Size of a shared dictionary of nginx's Lua, in bytes.", "dictionary"),
		free:     mint.desc(prefix+"free_bytes", "Free memory of a shared dictionary of nginx's Lua, in bytes. Only whole free pages count.", "dictionary"),
	}
}

// Describe implements prometheus.Collector.
func (d *dictionaries) Describe(descs chan<- *prometheus.Desc) {
	descs <- d.capacity
	descs <- d.free
}

// Collect implements prometheus.Collector.
func (d *dictionaries) Collect(metrics chan<- prometheus.Metric) {
	text, err := d.page.read()
	if err != nil {
		return
	}
	var sizes map[string]struct{ Capacity, Free float64 }
	if json.Unmarshal(text, &sizes) != nil {
		return
	}
	for name, is := range sizes {
		metrics <- prometheus.MustNewConstMetric(d.capacity, prometheus.GaugeValue, is.Capacity, name)
		metrics <- prometheus.MustNewConstMetric(d.free, prometheus.GaugeValue, is.Free, name)
	}
}
