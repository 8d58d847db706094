// Package gitrepo reads git repositories: commits, the commits between two of them, and where they
// are on the web. Its one rule: it runs git and changes nothing.
package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"windtunnel.dev/internal/command"
)

// Repository is a folder in a repository; empty: the working directory.
type Repository string

// Commit is an entry of a log.
type Commit struct {
	Hash    string    `json:"hash"`    // all 40 or 64 digits
	Time    time.Time `json:"time"`    // when it was committed
	Subject string    `json:"subject"` // the first line of its message
}

// Run runs a git command, the first argument, in the repository and returns its output. The error contains
// what git says.
func (r Repository) Run(ctx context.Context, args ...string) (string, error) {
	run := command.New(ctx, "git", args...)
	run.Dir = string(r)
	var out, stderr bytes.Buffer
	run.Stdout, run.Stderr = &out, &stderr
	if err := run.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out.String(), nil
}

// Has reports whether a text names a commit of the repository.
func (r Repository) Has(ctx context.Context, revision string) bool {
	_, err := r.Run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	return err == nil
}

// format is the log format of a commit: its fields, separated by zero bytes, which no field contains.
const format = "--format=%H%x00%ct%x00%s"

// Commit returns the commit that a text names, such as a branch, a tag or a hash.
func (r Repository) Commit(ctx context.Context, revision string) (Commit, error) {
	out, err := r.Run(ctx, "log", "--max-count=1", "--no-show-signature", format, "--end-of-options", revision+"^{commit}", "--")
	if err != nil {
		return Commit{}, err
	}
	return parseCommit(strings.TrimSuffix(out, "\n"))
}

// Between returns the commits that lead from one commit to another, without the former, the newest
// first, but no more than most. Of a merged branch, it returns only the merge.
func (r Repository) Between(ctx context.Context, from, to string, most int) ([]Commit, error) {
	out, err := r.Run(ctx, "log", "--first-parent", "--no-show-signature", "--max-count="+strconv.Itoa(most), format, "--end-of-options", from+".."+to, "--")
	if err != nil {
		return nil, err
	}
	var all []Commit
	for line := range strings.Lines(out) {
		commit, err := parseCommit(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		all = append(all, commit)
	}
	return all, nil
}

// Modified reports whether a tracked file differs from HEAD.
func (r Repository) Modified(ctx context.Context) (bool, error) {
	out, err := r.Run(ctx, "status", "--porcelain", "--untracked-files=no")
	return out != "", err
}

func parseCommit(line string) (Commit, error) {
	fields := strings.SplitN(line, "\x00", 3)
	if len(fields) != 3 {
		return Commit{}, fmt.Errorf("git log printed %q: want a hash, a time and a subject", line)
	}
	seconds, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return Commit{}, fmt.Errorf("git log printed %q: %w", line, err)
	}
	return Commit{Hash: fields[0], Time: time.Unix(seconds, 0).UTC(), Subject: fields[2]}, nil
}
