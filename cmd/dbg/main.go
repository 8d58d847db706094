// Command dbg prints what the nginx in this pod serves: its backends, certificates and
// configuration. The kubectl plugin of ingress-nginx runs it in the pod as /dbg.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	root := command(stdout)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.Execute(); err != nil {
		fmt.Fprintln(stderr, "dbg: "+err.Error())
		return 1
	}
	return 0
}

// command returns the commands with the names of ingress-nginx's dbg.
func command(out io.Writer) *cobra.Command {
	port, nginxRoot := 10246, "/"
	ask := func(path string) (string, error) { return get(port, path) }
	root := &cobra.Command{Use: "dbg", Short: "Print what the nginx in this pod serves", SilenceUsage: true, SilenceErrors: true}
	root.PersistentFlags().IntVar(&port, "status-port", port, "--status-port of the controller")
	root.PersistentFlags().StringVar(&nginxRoot, "nginx-root", nginxRoot, "--nginx-root of the controller")

	backends := group("backends", "Print the backends that nginx has received",
		leaf("all", "Print all backends as JSON", nil, func([]string) error { return allBackends(out, ask) }),
		leaf("list", "Print the names of the backends", nil, func([]string) error { return listBackends(out, ask) }),
		leaf("get NAME", "Print a backend as JSON", cobra.ExactArgs(1), func(args []string) error { return oneBackend(out, ask, args[0]) }))
	certs := group("certs", "Print the certificates that nginx has received",
		leaf("get HOST", "Print the certificate of a host and its private key as PEM", cobra.ExactArgs(1), func(args []string) error { return certificate(out, ask, args[0]) }))
	conf := leaf("conf", "Print nginx.conf", nil, func([]string) error {
		text, err := os.ReadFile(filepath.Join(nginxRoot, "etc/nginx/nginx.conf"))
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	})
	// Neither the controller nor ingress-nginx sends nginx a general configuration.
	general := leaf("general", "Print the general configuration, which is always empty", nil, func([]string) error {
		_, err := fmt.Fprintln(out, "{}")
		return err
	})
	root.AddCommand(backends, certs, conf, general)
	return root
}

func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		return fmt.Errorf("%s: want one of %s", use, names(commands))
	}}
	group.AddCommand(commands...)
	return group
}

func names(commands []*cobra.Command) string {
	var all []string
	for _, command := range commands {
		all = append(all, command.Name())
	}
	return strings.Join(all, ", ")
}

// leaf returns a command. Without args it accepts no arguments.
func leaf(use, short string, args cobra.PositionalArgs, do func([]string) error) *cobra.Command {
	if args == nil {
		args = cobra.NoArgs
	}
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(_ *cobra.Command, given []string) error { return do(given) }}
}
