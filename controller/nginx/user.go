package nginx

import (
	"fmt"
	"os"
	"os/user"
)

// User is whom the workers of root's nginx run as when its configuration does
// not say (the core directive user).
func (n *Nginx) User() string {
	if user, ok := (build{arguments: n.arguments}).argument("user"); ok {
		return user
	}
	return nobody
}

const nobody = "nobody"

// Unprivileged is what the directive user must say lest workers be root, such as
// "nobody nogroup". It is empty where they are not root anyway: the master is not, or this
// nginx was built for another user.
func (n *Nginx) Unprivileged() (string, error) {
	if os.Geteuid() != 0 {
		return "", nil
	}
	if worker, err := user.Lookup(n.User()); err == nil && worker.Uid != "0" {
		return "", nil
	}
	worker, err := user.Lookup(nobody)
	if err != nil {
		return "", fmt.Errorf("nginx's workers would run as %s: %w; add this user, or run the controller as another user than root", n.User(), err)
	}
	group, err := user.LookupGroupId(worker.Gid)
	if err != nil {
		return "", fmt.Errorf("the group of nginx's workers: %w", err)
	}
	return nobody + " " + group.Name, nil
}
