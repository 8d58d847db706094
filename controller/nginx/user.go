package nginx

import (
	"fmt"
	"os"
	"os/user"
)

// User returns the user of the workers if root starts nginx and the configuration has no directive
// user.
func (n *Nginx) User() string {
	if user, ok := (build{arguments: n.arguments}).argument("user"); ok {
		return user
	}
	return nobody
}

const nobody = "nobody"

// Unprivileged returns the value of the directive user that keeps workers from running as root, for
// example "nobody nogroup". It is empty if they would not run as root anyway: either the master
// does not, or nginx was built with another user.
func (n *Nginx) Unprivileged() (string, error) {
	if os.Geteuid() != 0 {
		return "", nil
	}
	if worker, err := user.Lookup(n.User()); err == nil && worker.Uid != "0" {
		return "", nil
	}
	worker, err := user.Lookup(nobody)
	if err != nil {
		return "", fmt.Errorf("nginx's workers would run as %s: %w; add this user, or do not run the controller as root", n.User(), err)
	}
	group, err := user.LookupGroupId(worker.Gid)
	if err != nil {
		return "", fmt.Errorf("looking up the group of nginx's workers: %w", err)
	}
	return nobody + " " + group.Name, nil
}
