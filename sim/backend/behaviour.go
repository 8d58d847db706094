package backend

import "net/http"

// behaviour is how a pod answers. Each has a file of its own and a row here.
type behaviour func(*pod) http.Handler

var behaviours = map[string]behaviour{
	"echo": echo,
}
