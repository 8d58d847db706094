package options

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kinds are the checks behind the kind tag: what a text may look like so that
// nginx reads it as one value. Texts without a kind are taken as they are.
var kinds = map[string]struct {
	ok   func(string) bool
	want string
}{
	"word":       {matches(`([^\s;{}"'\\#][^\s;{}"'\\]*)?`), "want one word without quotes, ; { }, which does not begin with #"},
	"words":      {matches(`[^;{}#\n\r]*`), "want words without ; { } #"},
	"cpus":       {matches(`(auto( [01]+)?|[01]+( [01]+)*)?`), "want auto or masks such as 01 10"},
	"protocols":  {matches(`(SSLv2|SSLv3|TLSv1(\.[123])?)( +(SSLv2|SSLv3|TLSv1(\.[123])?))*`), "want versions such as TLSv1.2 TLSv1.3"},
	"conditions": {matches(condition + `( +` + condition + `)*`), "want conditions of nginx's proxy_next_upstream such as error timeout http_502"},
	"pair":       {matches(`off|[^\s;{}#]+ +[^\s;{}#]+`), "want off or two words"},
	"buffers":    {matches(`[1-9]\d{0,5} +[1-9]\d{0,8}[kKmM]?`), "want a number and a size such as 4 8k"},
	"bytes":      {matches(`\d{1,9}[kK]?|\d{1,6}[mM]`), "want a size such as 512, 8k, 1m"},
	"quoted":     {matches(`(?:[^'\\]|\\.)*`), `want text with \' for each '`},
	"file":       {matches(`/[^\s;{}"'\\]*[^\s;{}"'\\/]`), "want the absolute path of a file"},
	"header":     {matches(`[A-Za-z0-9_-]+`), "want a header name"},
	"size":       {matches(`(\d+[kKmMgG]?)?`), "want a size such as 512, 8k, 1m"},
	"time":       {matches(`\d+(ms|[smhdwMy])?`), "want a time such as 10s, 5m, 1h"},
	"workers":    {matches(`auto|[1-9]\d{0,3}`), "want a number from 1, or auto"},
	"ip":         {isAddress, "want an IP address"},
	"cidr":       {isNetwork, "want an IP address or network"},
	"object":     {matches(`([a-z0-9][a-z0-9.-]*/[a-z0-9][a-z0-9.-]*)?`), "want namespace/name"},
	"goduration": {isDuration, "want a duration such as 5s, 500ms"},
	"variable":   {both(matches(`[A-Za-z0-9_${}]+`), HasVariablesOnly), "want nginx variables"},
	"quotable":   {both(matches(`[^"\\\r\n]*`), HasVariablesOnly), "want text without quotes, backslashes and line breaks, in which each dollar begins a variable"},
	"mapkey":     {matches(`([^"\\\r\n]|\\[^"\r\n])+`), "want text or a pattern without quotes and line breaks"},
	"url":        {matches(`[/\-._~a-zA-Z0-9:,?&=]*`), "want letters, digits and / - . _ ~ : , ? & ="},
	"urlvars":    {both(matches(`[/\-._~a-zA-Z0-9:,?&= $]*`), HasVariablesOnly), "want a URL, which may have variables"},
	"authurl":    {isAuthURL, "want a URL with scheme and host, which may have variables"},
	"verb":       {isVerb, "want a method of HTTP"},
	"cachetime":  {isCacheTime, "want statuses and a time, such as 200 202 30m"},
	"ticketkey":  {isTicketKey, "want 48 or 80 bytes in base64"},
	"status":     {func(s string) bool { return s != "499" }, "499 is nginx's own"},
	"regexes":    {matches(`[^\s"{}]+`), `want a pattern without spaces, " { }`},
}

// condition is one of proxy_next_upstream (nginx, ngx_http_proxy_module).
const condition = `(error|timeout|invalid_header|http_(403|404|429|500|502|503|504)|non_idempotent|off)`

func matches(pattern string) func(string) bool {
	return regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString
}

func both(one, other func(string) bool) func(string) bool {
	return func(text string) bool { return one(text) && other(text) }
}

func isAddress(s string) bool {
	address, err := netip.ParseAddr(s)
	return err == nil && address.Zone() == "" // nginx knows no zones, and they may have any character
}

// isNetwork is also false for 255.255.255.255, which nginx takes for an error
// of its own.
func isNetwork(s string) bool {
	_, err := netip.ParsePrefix(s)
	return (err == nil || isAddress(s)) && !strings.HasPrefix(s, "255.255.255.255")
}

func isDuration(s string) bool {
	d, err := time.ParseDuration(s)
	return err == nil && d > 0
}

func isTicketKey(s string) bool {
	key, err := base64.StdEncoding.DecodeString(s)
	return err == nil && (s == "" || len(key) == 48 || len(key) == 80)
}

func typeName(field reflect.StructField) string {
	kind := field.Tag.Get("kind")
	switch field.Type.Kind() {
	case reflect.Bool:
		return "bool"
	case reflect.Int:
		return "number"
	case reflect.Float64:
		return "fraction"
	case reflect.Slice:
		if field.Type.Elem().Kind() == reflect.Int {
			return "list of numbers"
		}
		if kind == "" {
			return "list of texts"
		}
		return "list of " + kind
	}
	if field.Tag.Get("one") != "" {
		return "choice"
	}
	if kind == "" {
		return "text"
	}
	return kind
}

// parse reads a value of the key's type.
func (k Key) parse(text string) (any, error) {
	switch {
	case k.Type == "bool":
		value, err := strconv.ParseBool(text)
		return value, because(err, "want true or false")
	case k.Type == "number":
		return k.number(text)
	case k.Type == "fraction":
		return k.fraction(text)
	case k.Type == "dicts":
		return sharedDicts(text)
	case k.Type == "list of numbers":
		return k.numbers(text)
	case strings.HasPrefix(k.Type, "list of "):
		return k.list(text)
	}
	return text, k.check(text)
}

func (k Key) number(text string) (int, error) {
	value, err := strconv.Atoi(text)
	if err != nil {
		return 0, errors.New("want a whole number")
	}
	least, most := bound(k.tags.Get("min"), 0), bound(k.tags.Get("max"), 1<<31-1)
	if value < least || value > most {
		return 0, fmt.Errorf("want a number from %d to %d", least, most)
	}
	return value, k.check(text)
}

func (k Key) fraction(text string) (float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	most := bound(k.tags.Get("max"), 1)
	if err != nil || !(value >= 0 && value <= float64(most)) { // NaN is neither
		return 0, fmt.Errorf("want a number from 0 to %d", most)
	}
	return value, nil
}

func (k Key) numbers(text string) ([]int, error) {
	items, err := k.list(text)
	if err != nil {
		return nil, err
	}
	var values []int
	for _, item := range items {
		value, err := k.number(item)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", item, err)
		}
		values = append(values, value)
	}
	return values, nil
}

func bound(tag string, otherwise int) int {
	if value, err := strconv.Atoi(tag); err == nil {
		return value
	}
	return otherwise
}

// list splits at commas; empty items vanish, as ingress-nginx has it.
func (k Key) list(text string) ([]string, error) {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		if err := k.check(item); err != nil {
			return nil, fmt.Errorf("%q: %w", item, err)
		}
		items = append(items, item)
	}
	return items, nil
}

func (k Key) check(text string) error {
	if choices := strings.Fields(k.tags.Get("one")); len(choices) > 0 && text != k.Default && !slices.Contains(choices, text) {
		return fmt.Errorf("want one of %s", strings.Join(choices, ", "))
	}
	if kind, ok := kinds[k.tags.Get("kind")]; ok && !kind.ok(text) {
		return errors.New(kind.want)
	}
	return nil
}

func because(err error, reason string) error {
	if err == nil {
		return nil
	}
	return errors.New(reason)
}
