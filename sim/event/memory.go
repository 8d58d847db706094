package event

// Memory is memory that cannot be seen from outside, as a controller reports it at its metrics
// endpoint. At is the time of the answer.
type Memory struct {
	Heap int64 `json:"heap,omitempty"` // bytes of the objects of a controller in Go, garbage included; 0: not reported
	// Dictionaries are the shared dictionaries of nginx's Lua, by name; nil: not reported.
	Dictionaries map[string]Dictionary `json:"dictionaries,omitempty"`
}

// Dictionary is the memory of a shared dictionary (lua_shared_dict).
type Dictionary struct {
	Capacity int64 `json:"capacity"` // bytes
	Free     int64 `json:"free"`     // bytes, in whole free pages; those that are partly used do not count
}
