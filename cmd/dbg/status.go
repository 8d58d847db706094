package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// asker returns the answer of nginx's status server to a GET.
type asker func(path string) (string, error)

// errNotFound is the error of a path that answers 404.
var errNotFound = errors.New("not found")

// patience bounds the wait for an answer, which can contain all backends.
const patience = 10 * time.Second

func get(port int, path string) (string, error) {
	client := http.Client{Timeout: patience}
	response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return "", err
	case response.StatusCode == http.StatusNotFound:
		return "", errNotFound
	case response.StatusCode != http.StatusOK:
		return "", fmt.Errorf("%s: %s: %s", path, response.Status, strings.TrimSpace(string(body)))
	}
	return string(body), nil
}

func backends(ask asker) ([]json.RawMessage, error) {
	text, err := ask("/configuration/backends")
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("nginx has no list of backends: %w", err)
	}
	return all, nil
}

func nameOf(backend json.RawMessage) (string, error) {
	var named struct{ Name string }
	err := json.Unmarshal(backend, &named)
	return named.Name, err
}

func allBackends(out io.Writer, ask asker) error {
	all, err := backends(ask)
	if err != nil {
		return err
	}
	return printJSON(out, all)
}

func listBackends(out io.Writer, ask asker) error {
	all, err := backends(ask)
	if err != nil {
		return err
	}
	for _, backend := range all {
		name, err := nameOf(backend)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, name); err != nil {
			return err
		}
	}
	return nil
}

func oneBackend(out io.Writer, ask asker, wanted string) error {
	all, err := backends(ask)
	if err != nil {
		return err
	}
	for _, backend := range all {
		if name, err := nameOf(backend); err == nil && name == wanted {
			return printJSON(out, backend)
		}
	}
	return fmt.Errorf("nginx has no backend %s", wanted)
}

func certificate(out io.Writer, ask asker, host string) error {
	pem, err := ask("/configuration/certs?hostname=" + url.QueryEscape(host))
	if errors.Is(err, errNotFound) {
		pem, err = fmt.Sprintf("No cert found for host %s\n", host), nil
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, pem)
	return err
}

// printJSON prints a value as JSON and keeps the order of its fields.
func printJSON(out io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, text, "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, pretty.String())
	return err
}
