package dump

import (
	"net/netip"
	"regexp"
	"strings"

	"windtunnel.dev/internal/namehash"
)

// names replaces the names of objects and hosts by hashes. All names are hashed label by label with
// one key, so a host of a service inside the cluster still names that service, and a wildcard still
// covers the hosts below it.
type names struct {
	key   []byte          // empty keeps all names
	hosts map[string]bool // the known hosts of the cluster, in lower case, without wildcards
}

func (n names) hashed() bool { return len(n.key) > 0 }

// plainLabels are labels with a special meaning: www for redirects between a host and its www, the
// others in the names of services inside a cluster.
var plainLabels = map[string]bool{"": true, "*": true, "www": true, "svc": true, "cluster": true, "local": true, "localhost": true}

// label returns the hash of a label: a DNS label of fixed length that begins with a letter.
func (n names) label(text string) string {
	if !n.hashed() || plainLabels[text] {
		return text
	}
	return "h" + namehash.Of(n.key, text)
}

// longestHost is the maximum length of a DNS name in text form (RFC 1035, 2.3.4).
const longestHost = 253

// dotted hashes the name of an object, or a host.
func (n names) dotted(text string) string {
	if !n.hashed() {
		return text
	}
	labels := strings.Split(text, ".")
	for i, label := range labels {
		labels[i] = n.label(label)
	}
	if hashed := strings.Join(labels, "."); len(hashed) <= longestHost {
		return hashed
	}
	if rest, wildcard := strings.CutPrefix(text, "*."); wildcard {
		return "*." + n.label(rest) + ".example"
	}
	return n.label(text) + ".example"
}

// host hashes a host, which may have a port. It does not change addresses.
func (n names) host(text string) string {
	if !n.hashed() || isAddress(text) {
		return text
	}
	port := endingPort.FindString(text)
	return n.dotted(strings.ToLower(strings.TrimSuffix(text, port))) + port
}

var (
	endingPort = regexp.MustCompile(`:[0-9]+$`)
	numeric    = regexp.MustCompile(`^[0-9.]+$`)
)

func isAddress(text string) bool {
	_, alone := netip.ParseAddr(strings.Trim(text, "[]"))
	_, withPort := netip.ParseAddrPort(text)
	return alone == nil || withPort == nil || numeric.MatchString(text)
}

func (n names) object(one name) name {
	return name{Namespace: n.label(one.Namespace), Name: n.dotted(one.Name)}
}

// reference hashes namespace/name, or name.
func (n names) reference(text string) string {
	before, after, found := strings.Cut(strings.TrimSpace(text), "/")
	if !found {
		return n.dotted(before)
	}
	return n.label(before) + "/" + n.dotted(after)
}

func (n names) learn(host string) {
	if host = strings.TrimPrefix(strings.ToLower(host), "*."); strings.Contains(host, ".") {
		n.hosts[host] = true
	}
}

var (
	// urlHost is the host of a URL in a text.
	urlHost = regexp.MustCompile(`(://)((?:\*\.)?[A-Za-z0-9][A-Za-z0-9.-]*)`)
	// hostLike is text with the form of a host, whose last label is not a number.
	hostLike = regexp.MustCompile(`(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?`)
)

// text hashes the hosts of URLs, and the known hosts of the cluster, in a text of any kind.
func (n names) text(text string) string {
	if !n.hashed() {
		return text
	}
	done := map[string]bool{}
	text = urlHost.ReplaceAllStringFunc(text, func(found string) string {
		hashed := n.host(strings.TrimPrefix(found, "://"))
		done[strings.ToLower(hashed)] = true
		return "://" + hashed
	})
	return hostLike.ReplaceAllStringFunc(text, func(found string) string {
		if done[strings.ToLower(found)] || !n.hosts[strings.ToLower(found)] {
			return found
		}
		return n.host(found)
	})
}

// list hashes the hosts of a list, such as that of server-alias. An item that is a regular
// expression cannot be hashed in parts, so it is replaced by a host. list returns the number of
// such items.
func (n names) list(text string) (hashed string, expressions int) {
	if !n.hashed() {
		return text, 0
	}
	items := strings.Split(text, ",")
	for i, item := range items {
		item = strings.TrimSpace(item)
		if strings.HasPrefix(item, "~") {
			expressions++
			items[i] = n.label(item) + ".example"
			continue
		}
		items[i] = n.host(item)
	}
	return strings.Join(items, ","), expressions
}
