package lua_test

import (
	"net/http"
	"testing"
)

// The test calls the library inside nginx, which prints the results.
const turns = `location /turns { content_by_lua_block {
local roundrobin = require("resty.roundrobin")
local function say(what, rr, n)
  local counts = {}
  for _ = 1, n do
    local id = rr:find()
    if id then counts[id] = (counts[id] or 0) + 1 end
  end
  ngx.say(what, ": a=", counts.a or 0, " b=", counts.b or 0, " c=", counts.c or 0)
end
say("even", roundrobin:new({ a = 1, b = 1, c = 1 }), 30)
say("one", roundrobin:new({ a = 1 }), 5)
say("none", roundrobin:new({}), 5)
local rr = roundrobin:new({ a = 4, b = 2, c = 0 })
say("weights", rr, 60)
rr:incr("c", 2) say("incr", rr, 80)
rr:decr("a", 2) say("decr", rr, 60)
rr:decr("a", 2) say("decr to nothing", rr, 40)
rr:set("b", 6)  say("set", rr, 80)
rr:delete("c")  say("delete", rr, 5)
rr:reinit({ a = 1, c = 1 }) say("reinit", rr, 10)
local nodes = { a = 1 }
rr:reinit(nodes) nodes.b = 1 rr:incr("c") say("its own copy", rr, 10)
} }`

func TestRoundRobinFollowsTheWeights(t *testing.T) {
	s := start(t, setup{Server: turns})
	const want = `even: a=10 b=10 c=10
one: a=5 b=0 c=0
none: a=0 b=0 c=0
weights: a=40 b=20 c=0
incr: a=40 b=20 c=20
decr: a=20 b=20 c=20
decr to nothing: a=0 b=20 c=20
set: a=0 b=60 c=20
delete: a=0 b=5 c=0
reinit: a=5 b=0 c=5
its own copy: a=5 b=0 c=5
`
	for _, w := range s.workers("none") {
		if got := w.getPath("/turns"); got.status != http.StatusOK || got.body != want {
			t.Errorf("status %d, got:\n%swant:\n%s", got.status, got.body, want)
		}
	}
}
