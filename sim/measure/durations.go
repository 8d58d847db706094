package measure

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A durations collects durations and computes their quantiles. It uses a histogram of microseconds
// with three significant digits, up to an hour: a quantile is accurate to a microsecond or a
// thousandth, whichever is coarser. The maximum is exact.
type durations struct {
	histogram *hdrhistogram.Histogram
	n         int
	max       time.Duration
}

const longest = time.Hour

func newDurations() *durations {
	return &durations{histogram: hdrhistogram.New(1, longest.Microseconds(), 3)}
}

// add records d. Negative values count as zero. In the quantiles, values above an hour count as an
// hour.
func (ds *durations) add(d time.Duration) {
	d = max(d, 0)
	// The value is within the range of the histogram, so RecordValue cannot fail.
	_ = ds.histogram.RecordValue(min(d, longest).Microseconds())
	ds.n++
	ds.max = max(ds.max, d)
}

// merge adds all durations of another collection.
func (ds *durations) merge(other *durations) {
	ds.histogram.Merge(other.histogram)
	ds.n += other.n
	ds.max = max(ds.max, other.max)
}

func (ds *durations) result() Durations {
	if ds.n == 0 {
		return Durations{}
	}
	quantile := func(percent float64) time.Duration {
		return min(time.Duration(ds.histogram.ValueAtPercentile(percent))*time.Microsecond, ds.max)
	}
	return Durations{N: ds.n, P50: quantile(50), P90: quantile(90), P99: quantile(99), Max: ds.max}
}
