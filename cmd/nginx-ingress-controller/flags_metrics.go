package main

import (
	"fmt"
	"log/slog"
	"math"
	"net"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/socket"
)

// metricsFlags configure /metrics.
type metricsFlags struct {
	enable    bool
	requests  metrics.Requests
	batchSize int
}

func (f *flags) addMetrics() {
	s, o := f.set, &f.metrics
	r := &o.requests
	*r = metrics.DefaultRequests
	s.BoolVar(&o.enable, "enable-metrics", false, "serve metrics of nginx, requests and the controller, in addition to those of the process")
	s.BoolVar(&r.PerHost, "metrics-per-host", r.PerHost, "add a label for the host to the metrics of requests")
	s.BoolVar(&r.PerUndefinedHost, "metrics-per-undefined-host", r.PerUndefinedHost, "also count requests for hosts without an ingress; clients can then create any number of series")
	s.BoolVar(&r.StatusClasses, "report-status-classes", r.StatusClasses, "count responses by class (4xx), not by status (404)")
	s.StringSliceVar(&r.Exclude, "exclude-socket-metrics", nil, "metrics of requests to omit, by name with or without nginx_ingress_controller_")
	s.Float64SliceVar(&r.TimeBuckets, "time-buckets", r.TimeBuckets, "buckets of the times of requests, in seconds")
	s.Float64SliceVar(&r.LengthBuckets, "length-buckets", r.LengthBuckets, "buckets of the lengths of requests and responses, in bytes")
	s.Float64SliceVar(&r.SizeBuckets, "size-buckets", r.SizeBuckets, "buckets of the bytes sent")
	s.Float64Var(&r.BucketFactor, "bucket-factor", r.BucketFactor, "growth factor of the buckets of native histograms, greater than 1; 0: no native histograms")
	s.Uint32Var(&r.MaxBuckets, "max-buckets", r.MaxBuckets, "maximum number of buckets of a native histogram")
	s.IntVar(&o.batchSize, "monitor-max-batch-size", 10000, "maximum number of request records that a worker of nginx keeps for a second; at least 10000")
}

func (o *metricsFlags) validate() error {
	for name, buckets := range map[string][]float64{"time": o.requests.TimeBuckets, "length": o.requests.LengthBuckets, "size": o.requests.SizeBuckets} {
		increasing := slices.IsSorted(buckets) && len(slices.Compact(slices.Clone(buckets))) == len(buckets)
		if !increasing || slices.ContainsFunc(buckets, math.IsNaN) {
			return fmt.Errorf("--%s-buckets %v: each must be greater than the one before", name, buckets)
		}
	}
	if o.requests.BucketFactor != 0 && !(o.requests.BucketFactor > 1) {
		return fmt.Errorf("--bucket-factor %v: must be greater than 1, or 0", o.requests.BucketFactor)
	}
	return nil
}

// warn logs a warning for each excluded metric that does not exist.
func (o *metricsFlags) warn(log *slog.Logger) {
	for _, name := range o.requests.Unknown() {
		log.Warn(fmt.Sprintf("--exclude-socket-metrics %s has no effect: there is no metric of requests with this name", name))
	}
}

func (f *flags) metricsOptions(pod types.NamespacedName) metrics.Options {
	o := metrics.Options{
		Identity:  metrics.Identity{Namespace: pod.Namespace, Class: f.watch.ControllerClass, Pod: pod.Name},
		Build:     build(),
		Full:      f.metrics.enable,
		Requests:  f.metrics.requests,
		Admission: f.admission.address != "",
	}
	if !f.status.noElection {
		o.Election = f.status.election.ID
	}
	return o
}

// listen opens the socket for nginx's records of requests. It returns nil without --enable-metrics.
func (o *metricsFlags) listen(root string) (net.Listener, error) {
	if !o.enable {
		return nil, nil
	}
	listener, err := socket.Listen((options.Options{Root: root}).Path(options.MetricsSocket))
	if err != nil {
		return nil, fmt.Errorf("--enable-metrics: the socket for nginx's metrics: %w", err)
	}
	return listener, nil
}
