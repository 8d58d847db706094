// Package specfile reads what the files of scenarios, behaviour cases and adapters have in common: a
// first YAML document that is the format's own, then Kubernetes manifests. Its one rule: every problem
// has its line and a way to fix it, and all problems of a file are reported together.
package specfile
