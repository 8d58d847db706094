package metrics

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A scrape while a metric is refilled sees all series.
func TestScrapesSeeNoGapWhileMetricsAreFilled(t *testing.T) {
	const series = 500
	var found [2][]Orphan
	var served [2][]Certificate
	for n := range series {
		one := fmt.Sprintf("web-%d", n)
		for i := range 2 {
			found[i] = append(found[i], Orphan{"shop", one, NoService})
			served[i] = append(served[i], Certificate{Host: one, Expires: time.Unix(int64(i+1), 0)})
		}
	}
	m := New(options)
	m.Leader(true)
	fill := func(i int) {
		m.Orphans(found[i])
		m.Certificates(served[i])
	}
	fill(0)
	var scraped atomic.Bool
	filled := make(chan struct{})
	go func() {
		defer close(filled)
		for i := 0; !scraped.Load(); i = 1 - i {
			fill(i)
		}
	}()
	for range 20 {
		text := scrape(m)
		for _, name := range []string{"orphan_ingress", "ssl_expire_time_seconds", "ssl_certificate_info"} {
			if n := strings.Count(text, "\n"+namespace+"_"+name+"{"); n != series {
				t.Errorf("the scrape contains %d of %d series of %s", n, series, name)
			}
		}
	}
	scraped.Store(true)
	<-filled
}
