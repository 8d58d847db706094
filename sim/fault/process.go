package fault

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"
)

// ofProcesses are the faults of nginx's processes.
var ofProcesses = []Fault{
	{Name: "worker-kill", Doc: "The oldest worker is killed (SIGKILL): what it served is lost, and the master starts another.",
		strike: func(v Victim, _ time.Duration) (func(), error) {
			workers := v.Workers()
			if len(workers) == 0 {
				return nil, errors.New("nginx has no workers to kill")
			}
			return nil, signal(slices.Min(workers), syscall.SIGKILL)
		}},
	{Name: "workers-kill", Doc: "All workers are killed (SIGKILL) at once.",
		strike: func(v Victim, _ time.Duration) (func(), error) {
			var errs []error
			for _, pid := range v.Workers() {
				errs = append(errs, signal(pid, syscall.SIGKILL))
			}
			return nil, errors.Join(errs...)
		}},
	{Name: "workers-stopped", Doc: "All workers are stopped (SIGSTOP), as by a starved CPU, and go on after this time.", Lasts: true,
		strike: func(v Victim, _ time.Duration) (func(), error) {
			stopped := v.Workers()
			for _, pid := range stopped {
				if err := signal(pid, syscall.SIGSTOP); err != nil {
					return nil, err
				}
			}
			return func() {
				for _, pid := range stopped {
					signal(pid, syscall.SIGCONT) // one that has ended since needs none
				}
			}, nil
		}},
	{Name: "controller-kill", Doc: "The controller is killed (SIGKILL), and nginx with it, as when their container ends; it is started again at once.", Kills: true,
		strike: func(v Victim, _ time.Duration) (func(), error) {
			return nil, signal(v.Controller(), syscall.SIGKILL)
		}},
	{Name: "config-tests", Doc: "nginx -t runs on the configuration again and again, as an admission webhook has it run. Runs that refuse what is in place are troubles.", Lasts: true,
		strike: testAgain},
	{Name: "config-torn", Doc: "nginx.conf is cut in half where it lies, as by a writer that does not write at once, and whole again after this time.", Lasts: true,
		strike: tear},
	{Name: "master-kill", Doc: "The master is killed (SIGKILL): the workers go on, and nobody reloads them. A controller that ends for it, or does not answer its health check for five seconds, is started again, as a kubelet would (which waits for 50, by ingress-nginx's own manifests).", Kills: true,
		strike: func(v Victim, _ time.Duration) (func(), error) {
			pid, err := v.Master()
			if err != nil {
				return nil, err
			}
			return nil, signal(pid, syscall.SIGKILL)
		}},
}

func signal(pid int, s syscall.Signal) error {
	if err := syscall.Kill(pid, s); err != nil {
		return fmt.Errorf("sending %v to process %d: %w", s, pid, err)
	}
	return nil
}
