package gitrepo

import (
	"context"
	"net/url"
	"regexp"
	"strings"
)

// Web is the page of a repository, such as https://github.com/owner/name; empty: there is none.
// Its pages of commits have the addresses that GitHub, Gitea and GitLab use.
type Web string

// Web returns the page of the remote origin. It is empty if there is no such remote, or if it is not
// on a server.
func (r Repository) Web(ctx context.Context) Web {
	remote, err := r.Run(ctx, "remote", "get-url", "origin")
	if err != nil {
		return ""
	}
	return webOf(strings.TrimSpace(remote))
}

// scpLike is git's short form of an SSH address: git@github.com:owner/name.git.
var scpLike = regexp.MustCompile(`^(?:[^@/]+@)?([^:/@]+):([^/].*)$`)

// webOf returns the page of a remote, without user and password.
func webOf(remote string) Web {
	host, path := "", ""
	if short := scpLike.FindStringSubmatch(remote); short != nil {
		host, path = short[1], short[2]
	} else if address, err := url.Parse(remote); err == nil {
		switch address.Scheme {
		case "http", "https":
			host = address.Host
		case "ssh", "git":
			host = address.Hostname()
		}
		path = address.Path
	}
	if path = strings.TrimSuffix(strings.Trim(path, "/"), ".git"); host == "" || path == "" {
		return ""
	}
	page := url.URL{Scheme: "https", Host: host, Path: "/" + path}
	return Web(page.String())
}

// ParseWeb returns the page that a user names; ok is false unless it is an address with http or https.
func ParseWeb(text string) (page Web, ok bool) {
	address, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http" {
		return "", false
	}
	return Web(address.String()), true
}

// Commit returns the page of a commit; empty if the repository has no page.
func (w Web) Commit(hash string) string { return w.page("/commit/" + hash) }

// Compare returns the page of the commits from one to another, without the former; empty if the
// repository has no page.
func (w Web) Compare(from, to string) string { return w.page("/compare/" + from + "..." + to) }

func (w Web) page(path string) string {
	if w == "" {
		return ""
	}
	return string(w) + path
}
