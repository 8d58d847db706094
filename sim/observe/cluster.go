package observe

import (
	"context"
	"fmt"
	"os"

	"windtunnel.dev/sim/follow"
	"windtunnel.dev/sim/rundir"
)

// follow lists the services, endpoints and ingresses, and then watches them.
func (ob *observation) follow(ctx, following context.Context) (*follow.Follower, error) {
	f, err := follow.Start(following, ob.API, ob.Follow)
	if err == nil {
		err = f.ReadInitialState(ctx, func(e follow.Event) { ob.ledger.Add(e.Object, e.Gone, e.At) })
	}
	if err != nil {
		return nil, fmt.Errorf("read the services, endpoints and ingresses: %w", err)
	}
	ob.ledger.Begin()
	return f, nil
}

// createLog creates the event log in the folder of the observation.
func createLog(dir rundir.Dir) (*os.File, error) { return os.Create(dir.File(rundir.Events)) }
