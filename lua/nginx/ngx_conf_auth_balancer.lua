-- balancer_by_lua of the upstream of an external authentication that is named.
require("auth_upstream").balance()
