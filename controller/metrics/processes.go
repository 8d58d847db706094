package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/procfs"
)

// processes is a collector of sums over nginx's processes, from /proc. The totals include the usage
// of workers that have ended.
type processes struct {
	fs   procfs.FS
	pids func() []int

	count, resident, virtual, oldest, cpu, read, written *prometheus.Desc

	mu    sync.Mutex
	last  map[process]usage // of the processes alive at the last scrape
	spent usage             // since the start
}

// process identifies a process. PIDs can be reused, so the start time is part of it.
type process struct {
	pid   int
	start uint64
}

type usage struct{ cpu, read, written float64 }

func newProcesses(mint maker, pids func() []int) *processes {
	const prefix = "nginx_process_"
	fs, _ := procfs.NewDefaultFS() // without /proc, there are no processes to find
	return &processes{
		fs:       fs,
		pids:     pids,
		count:    mint.desc(prefix+"num_procs", "Processes of nginx."),
		resident: mint.desc(prefix+"resident_memory_bytes", "Resident memory of nginx's processes, in bytes."),
		virtual:  mint.desc(prefix+"virtual_memory_bytes", "Virtual memory of nginx's processes, in bytes."),
		oldest:   mint.desc(prefix+"oldest_start_time_seconds", "When the oldest nginx process started, in seconds since 1970."),
		cpu:      mint.desc(prefix+"cpu_seconds_total", "CPU time of nginx's processes in user and system mode, in seconds."),
		read:     mint.desc(prefix+"read_bytes_total", "Bytes that nginx's processes read from disk."),
		written:  mint.desc(prefix+"write_bytes_total", "Bytes that nginx's processes wrote to disk."),
		last:     map[process]usage{},
	}
}

// Describe implements prometheus.Collector.
func (p *processes) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{p.count, p.resident, p.virtual, p.oldest, p.cpu, p.read, p.written} {
		descs <- desc
	}
}

// Collect implements prometheus.Collector.
func (p *processes) Collect(metrics chan<- prometheus.Metric) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var count, resident, virtual, oldest float64
	alive := map[process]usage{}
	for _, pid := range p.pids() {
		proc, err := p.fs.Proc(pid)
		if err != nil {
			continue // it ended
		}
		stat, err := proc.Stat()
		if err != nil {
			continue
		}
		count++
		resident += float64(stat.ResidentMemory())
		virtual += float64(stat.VirtualMemory())
		if start, err := stat.StartTime(); err == nil && (oldest == 0 || start < oldest) {
			oldest = start
		}
		who := process{pid, stat.Starttime}
		used := p.last[who]
		used.cpu = stat.CPUTime()
		if io, err := proc.IO(); err == nil { // may be forbidden, also for a while
			used.read, used.written = float64(io.ReadBytes), float64(io.WriteBytes)
		}
		alive[who] = used
		p.spent.add(used, p.last[who])
	}
	p.last = alive
	gauge := func(desc *prometheus.Desc, value float64) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
	counter := func(desc *prometheus.Desc, value float64) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, value)
	}
	gauge(p.count, count)
	gauge(p.resident, resident)
	gauge(p.virtual, virtual)
	gauge(p.oldest, oldest)
	counter(p.cpu, p.spent.cpu)
	counter(p.read, p.spent.read)
	counter(p.written, p.spent.written)
}

// add adds the usage since the last scrape.
func (u *usage) add(now, before usage) {
	u.cpu += now.cpu - before.cpu
	u.read += now.read - before.read
	u.written += now.written - before.written
}
