// Package docs contains the documents that programs read as well. It stands between the reference
// pages and the commands that print parts of them. Its one rule: a text of a page exists only in
// that page.
package docs

import _ "embed" // for the documents

// ResultSchema is the JSON Schema of result.json, with a description of each
// field.
//
//go:embed result.schema.json
var ResultSchema []byte

// Flags is the page of the controller's flags.
//
//go:embed flags.md
var Flags string

// Compat is the page of differences from ingress-nginx. Rows that cases name begin with an anchor.
//
//go:embed compat.md
var Compat string

// Parameters are the costs from which windtunnel predict predicts, unless its flags name others.
//
//go:embed results/predict/parameters.yaml
var Parameters []byte
