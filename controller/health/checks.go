package health

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// check is one of the checks of a health path. It has a path of its own, PATH/NAME.
type check struct {
	name string
	run  func(context.Context) error
}

// checks are the checks of a health path.
type checks []check

// add adds the common path and the path of each check to mux.
func (all checks) add(mux *http.ServeMux, path string) {
	mux.HandleFunc(path, all.answer)
	for _, one := range all {
		mux.HandleFunc(path+"/"+one.name, one.answer)
	}
}

func (c check) answer(w http.ResponseWriter, r *http.Request) {
	if err := c.run(r.Context()); err != nil {
		http.Error(w, "internal server error: "+err.Error(), http.StatusInternalServerError)
		return
	}
	writeOK(w, "ok")
}

// answer runs the checks, except those in the parameter exclude. As in Kubernetes' health
// endpoints, the response lists them if one fails, or with the parameter verbose. Unlike those, it
// gives the reason of a failure, because the page is for the controller's administrators.
func (all checks) answer(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	failed := false
	var list strings.Builder
	for _, one := range all {
		if slices.Contains(query["exclude"], one.name) {
			fmt.Fprintf(&list, "[+]%s excluded: ok\n", one.name)
		} else if err := one.run(r.Context()); err != nil {
			failed = true
			fmt.Fprintf(&list, "[-]%s failed: %v\n", one.name, err)
		} else {
			fmt.Fprintf(&list, "[+]%s ok\n", one.name)
		}
	}
	for _, name := range query["exclude"] {
		if !slices.ContainsFunc(all, func(one check) bool { return one.name == name }) {
			fmt.Fprintf(&list, "warn: some health checks cannot be excluded: no matches for %q\n", name)
		}
	}
	switch {
	case failed:
		http.Error(w, list.String()+"healthz check failed", http.StatusInternalServerError)
	case query.Has("verbose"):
		writeOK(w, list.String()+"healthz check passed\n")
	default:
		writeOK(w, "ok")
	}
}

func writeOK(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	fmt.Fprint(w, text)
}
