package main

import (
	"fmt"
	"os"
	"runtime"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// contentTypes prefers protobuf, which costs a third of the CPU time of JSON. A server that does
// not support protobuf answers in JSON.
const contentTypes = "application/vnd.kubernetes.protobuf,application/json"

// client returns a client for the API server that the flags name. It sends no request.
func (f *flags) client() (kubernetes.Interface, error) {
	config, err := f.restConfig()
	if err != nil {
		return nil, err
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = contentTypes
	config.UserAgent = userAgent()
	config.QPS = -1 // unlimited: the API server has its own limits
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("API server %s: %w", config.Host, err)
	}
	return client, nil
}

// userAgent has the form of ingress-nginx's, which audit logs and flow schemas match. Its last word
// names this project instead of ingress-nginx.
func userAgent() string {
	return fmt.Sprintf("nginx-ingress-controller/%s (%s/%s) windtunnel/%s", build().Release, runtime.GOOS, runtime.GOARCH, build().Commit)
}

func (f *flags) restConfig() (*rest.Config, error) {
	if f.apiServer == "" && f.kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("not in a pod (%w): set --kubeconfig or --apiserver-host", err)
		}
		return config, nil
	}
	if f.kubeconfig != "" {
		if _, err := os.Stat(f.kubeconfig); err != nil {
			return nil, fmt.Errorf("--kubeconfig: %w", err)
		}
	}
	config, err := clientcmd.BuildConfigFromFlags(f.apiServer, f.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig %s: %w", f.kubeconfig, err)
	}
	if f.certificateAuthority != "" {
		if _, err := os.Stat(f.certificateAuthority); err != nil {
			return nil, fmt.Errorf("--certificate-authority: %w", err)
		}
		config.CAFile = f.certificateAuthority
	}
	return config, nil
}
