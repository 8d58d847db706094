package main

import (
	"fmt"
	"log/slog"

	"github.com/spf13/pflag"
)

// foreign is a flag of ingress-nginx that has no effect here yet. A value
// that asks for nothing we lack needs no warning.
type foreign struct {
	name     string
	boolean  bool   // may stand without a value
	harmless string // the value that asks for what we do anyway; "" is one, too
}

// unsupported are ingress-nginx's flags that are accepted, so that its command
// lines can be used as they are.
var unsupported = []foreign{
	{name: "enable-ssl-chain-completion", boolean: true, harmless: "false"},
}

func (u foreign) add(set *pflag.FlagSet) {
	set.String(u.name, u.harmless, "of ingress-nginx; not supported yet")
	if u.boolean {
		set.Lookup(u.name).NoOptDefVal = "true"
	}
}

// warn logs a line for each flag that was given and asks for what we lack.
func warn(set *pflag.FlagSet, log *slog.Logger) {
	for _, u := range unsupported {
		given := set.Lookup(u.name)
		if value := given.Value.String(); given.Changed && value != "" && value != u.harmless {
			log.Warn(fmt.Sprintf("--%s=%s is not supported yet and has no effect", u.name, value))
		}
	}
}
