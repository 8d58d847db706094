-- balancer_by_lua of the upstream for external authentication by host name.
require("auth_upstream").balance()
