package kubeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"

	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/version"
)

// checkVersion returns the version of the server. It refuses an invalid one, because clients parse
// it and fail in odd ways.
func checkVersion(v string) (string, error) {
	if v == "" {
		return DefaultVersion, nil
	}
	if _, err := utilversion.ParseSemantic(v); err != nil {
		return "", fmt.Errorf("kubeapi: version %q: %w; write for example %s", v, err, DefaultVersion)
	}
	return v, nil
}

func (s *Server) serveVersion(w http.ResponseWriter, req *http.Request) {
	v := utilversion.MustParseSemantic(s.version)
	body, err := json.Marshal(version.Info{
		Major:        fmt.Sprint(v.Major()),
		Minor:        fmt.Sprint(v.Minor()),
		GitVersion:   s.version,
		GitTreeState: "clean",
		GoVersion:    runtime.Version(),
		Compiler:     runtime.Compiler,
		Platform:     runtime.GOOS + "/" + runtime.GOARCH,
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, req, "application/json", http.StatusOK, body)
}
