package fault

import (
	"errors"
	"slices"
	"syscall"
	"time"
)

// ofProcesses are the faults of nginx's processes.
var ofProcesses = []Fault{
	{Name: "worker-kill", Doc: "The oldest worker is killed (SIGKILL): its requests are lost, and the master starts another.", Strikes: "workers", Needs: Respawn,
		strike: func(v Victim, _ time.Duration) (endFunc, error) {
			workers := v.Workers()
			if len(workers) == 0 {
				return nil, errNoWorkers
			}
			return alreadyOver(1), v.Signal(slices.Min(workers), syscall.SIGKILL)
		}},
	{Name: "workers-kill", Doc: "All workers are killed (SIGKILL) at once.", Strikes: "workers", Needs: Respawn,
		strike: func(v Victim, _ time.Duration) (endFunc, error) {
			killed, err := signalAll(v, syscall.SIGKILL)
			return alreadyOver(len(killed)), err
		}},
	{Name: "workers-stopped", Doc: "All workers are stopped (SIGSTOP), as on a starved CPU, and continue after this time.", Strikes: "workers", Lasts: true,
		strike: func(v Victim, _ time.Duration) (endFunc, error) {
			stopped, err := signalAll(v, syscall.SIGSTOP)
			resume := func() int {
				for _, pid := range stopped {
					v.Signal(pid, syscall.SIGCONT) // fails only if the worker has ended
				}
				return len(stopped)
			}
			if err != nil {
				resume()
				return nil, err
			}
			return resume, nil
		}},
	{Name: "controller-kill", Doc: "The controller and nginx are killed (SIGKILL), as when their container ends; the controller is started again at once.", Strikes: "controllers", Kills: true,
		strike: func(v Victim, _ time.Duration) (endFunc, error) {
			return alreadyOver(1), v.Signal(v.Controller(), syscall.SIGKILL)
		}},
	{Name: "config-tests", Doc: "nginx -t tests the configuration again and again, as an admission webhook does. A test that refuses the configuration in use is a trouble.", Strikes: "tests", Lasts: true, Needs: Configuration,
		strike: testConfig},
	{Name: "config-torn", Doc: "nginx.conf is cut in half in place, as by a writer that does not write atomically, and is complete again after this time.", Strikes: "files", Lasts: true, Needs: Configuration,
		strike: tearConfig},
	{Name: "master-kill", Doc: "The master is killed (SIGKILL): the workers go on, but cannot be reloaded. A controller that ends because of it, or fails its health check for five seconds, is started again, as a kubelet would do (after 50 seconds with ingress-nginx's own manifests).", Strikes: "masters", Kills: true,
		strike: func(v Victim, _ time.Duration) (endFunc, error) {
			pid, err := v.Master()
			if err != nil {
				return nil, err
			}
			return alreadyOver(1), v.Signal(pid, syscall.SIGKILL)
		}},
}

var errNoWorkers = errors.New("nginx has no workers")

// signalAll signals all workers and returns those that it reached, also if it returns an error.
// Workers that have just ended are no error, unless all have.
func signalAll(v Victim, s syscall.Signal) (reached []int, err error) {
	for _, pid := range v.Workers() {
		switch err := v.Signal(pid, s); {
		case err == nil:
			reached = append(reached, pid)
		case !errors.Is(err, syscall.ESRCH):
			return reached, err
		}
	}
	if len(reached) == 0 {
		return nil, errNoWorkers
	}
	return reached, nil
}
