// Package specfile reads the format that the files of scenarios, behaviour cases and adapters share:
// a first YAML document in the format's own schema, followed by Kubernetes manifests. Its one rule:
// every problem has its line and a way to fix it, and all problems of a file are reported together.
package specfile
