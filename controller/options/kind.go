package options

import (
	"cmp"
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

// kinds are the checks for the kind tag: the format that a text needs so that nginx parses it as
// one value. Texts without a kind are not checked.
var kinds = map[string]struct {
	ok   func(string) bool
	want string
}{
	"word":       {matches(`([^\s;{}"'\\#][^\s;{}"'\\]*)?`), "want one word without quotes, ; { }, which does not begin with #"},
	"words":      {matches(`[^;{}#"'\\\n\r]*`), "want words without quotes, backslashes, ; { } #"},
	"regex":      {both(matches(`[^\r\n]*`), isPattern), "want a pattern"},
	"cpus":       {matches(`(auto( [01]+)?|[01]+( [01]+)*)?`), "want auto or masks such as 01 10"},
	"protocols":  {matches(`(SSLv2|SSLv3|TLSv1(\.[123])?)( +(SSLv2|SSLv3|TLSv1(\.[123])?))*`), "want versions such as TLSv1.2 TLSv1.3"},
	"conditions": {matches(condition + `( +` + condition + `)*`), "want conditions of nginx's proxy_next_upstream such as error timeout http_502"},
	"pair":       {matches(`off|` + bare + ` +` + bare), "want off or two words without quotes, ; { } #"},
	"buffers":    {areBuffers, "want a number and a size such as 4 8k, of at most 128m together"},
	"bytes":      {matches(`\d{1,9}[kK]?|\d{1,6}[mM]`), "want a size such as 512, 8k, 1m"},
	"quoted":     {matches(`(?:[^'\\]|\\.)*`), `want text with \' for each '`},
	"file":       {matches(`/[^\s;{}"'\\]*[^\s;{}"'\\/]`), "want the absolute path of a file"},
	"header":     {matches(`[A-Za-z0-9_-]+`), "want a header name"},
	"size":       {matches(`(\d{1,9}[kKmM]?)?`), "want a size such as 512, 8k, 1m"},
	"offset":     {matches(`(\d{1,9}[kKmMgG]?)?`), "want a size such as 512, 8k, 1m, 2g"},
	"time":       {isTime(uptoWeeks, `(\d{1,10}ms)?`), "want a time such as 10s, 500ms, 1h30m"},
	"wholetime":  {isTime(`(\d{1,10}y)?(\d{1,10}M)?`+uptoWeeks, ``), "want a time in whole seconds such as 10s, 1h30m"},
	"redirected": {matches(`([^\s;{}"'#][^\s;{}"']*)?`), "want one word without quotes, ; { }, which does not begin with #"},
	"workers":    {matches(`auto|[1-9]\d{0,2}`), "want a number from 1 to 999, or auto"},
	"ip":         {isAddress, "want an IP address"},
	"cidr":       {isNetwork, "want an IP address or network"},
	"object":     {matches(`([a-z0-9][a-z0-9.-]*/[a-z0-9][a-z0-9.-]*)?`), "want namespace/name"},
	"goduration": {isDuration, "want a duration such as 5s, 500ms"},
	"variable":   {matches(`(?:[\w.,:/|-]|\$\w+|\$\{\w+\})+`), "want nginx variables"},
	"quotable":   {both(matches(`[^"\\\r\n]*`), HasVariablesOnly), "want text without quotes, backslashes and line breaks, in which each dollar begins a variable"},
	"mapkey":     {both(matches(`([^"\\\r\n]|\\[^"\r\n])+`), isMapKey), "want text or a pattern without quotes and line breaks"},
	"url":        {matches(`[/\-._~a-zA-Z0-9:,?&=]*`), "want letters, digits and / - . _ ~ : , ? & ="},
	"urlvars":    {both(matches(`[/\-._~a-zA-Z0-9:,?&= $%+!*();@#]*`), HasVariablesOnly), "want a URL, which may have variables"},
	"authurl":    {isAuthURL, "want a URL with scheme and host, which may have variables"},
	"verb":       {isVerb, "want a method of HTTP"},
	"cachetime":  {isCacheTime, "want statuses and a time, such as 200 202 30m"},
	"ticketkey":  {isTicketKey, "want 48 or 80 bytes in base64"},
	"status":     {func(s string) bool { return s != "499" }, "499 is reserved by nginx"},
	"regexes":    {both(matches(`[^\s"{}]+`), isPattern), `want a pattern without spaces, " { }`},
	"ciphers":    {both(matches(`[^\s;{}"'\\#]+`), KnowsCiphers), "want a list of ciphers that OpenSSL knows"},
	"curves":     {matches(`auto|` + curve + `(:` + curve + `)*`), "want auto, or curves such as X25519:prime256v1"},
	"logparams":  {areLogParameters, "want parameters of access_log such as buffer=16k flush=5s gzip"},
	"host":       {matches(`[A-Za-z0-9.\-]*|\[?[0-9A-Fa-f:.]+\]?`), "want the name or the address of a host"},
}

// bare is a word that nginx reads as one parameter without quotes. It must not end in
// a backslash, which would escape the semicolon.
const bare = `(?:[^\s;{}#"'\\]|\\[^\s;{}#"'])+`

// uptoWeeks matches the units from weeks to seconds. nginx accepts no longer units for times that
// it measures in milliseconds.
const uptoWeeks = `(\d{1,10}w)?(\d{1,10}d)?(\d{1,10}h)?(\d{1,10}m)?(\d{1,10}s)?`

// isTime returns a check for nginx's times: numbers with units, from the largest to the smallest,
// then a number of seconds without a unit.
func isTime(units, milliseconds string) func(string) bool {
	return both(matches(`.+`), matches(units+milliseconds+`(\d{1,10})?`))
}

// condition matches one condition of proxy_next_upstream (nginx, ngx_http_proxy_module).
const condition = `(error|timeout|invalid_header|http_(403|404|429|500|502|503|504)|non_idempotent|off)`

// curve matches a group that OpenSSL 3 knows (SSL_CTX_set1_curves_list).
const curve = `(X25519|X448|prime256v1|secp256r1|secp256k1|secp384r1|secp521r1|P-256|P-384|P-521|brainpoolP(256|384|512)r1|ffdhe(2048|3072|4096|6144|8192))`

// areBuffers checks large_client_header_buffers: one connection may use all of them.
func areBuffers(text string) bool {
	if !matches(`[1-9]\d{0,5} +[1-9]\d{0,8}[kKmM]?`)(text) {
		return false
	}
	fields := strings.Fields(text)
	number, err := strconv.ParseInt(fields[0], 10, 64)
	return err == nil && Bytes(fields[1]) <= MostBuffered/number
}

var logParameter = regexp.MustCompile(`^(?:buffer=([1-9]\d{0,6}[kK]?|[1-9]\d?[mM])|gzip(=[1-9])?|flush=[1-9]\d{0,6}(ms|[smhd])?)$`)

// areLogParameters checks the parameters after the format in access_log
// (ngx_http_log_module). flush needs a buffer.
func areLogParameters(text string) bool {
	buffered, flushed := false, false
	for _, word := range strings.Fields(text) {
		if !logParameter.MatchString(word) {
			return false
		}
		flushed = flushed || strings.HasPrefix(word, "flush=")
		buffered = buffered || !strings.HasPrefix(word, "flush=")
	}
	return buffered || !flushed
}

func isPattern(text string) bool { return BadPattern(text) == nil }

// isMapKey reports whether nginx accepts a key of a map. A key after ~ or ~* is a pattern.
func isMapKey(text string) bool {
	pattern, is := strings.CutPrefix(text, "~")
	return !is || isPattern(strings.TrimPrefix(pattern, "*"))
}

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

// isNetwork returns false for 255.255.255.255, which nginx mistakes for an error value.
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

// parse parses a value of the key's type. If a list has bad items, it returns the good items and an
// error. As in ingress-nginx, which decodes the ConfigMap weakly (WeaklyTypedInput of
// mapstructure), an empty bool is false, an empty number is 0, and the prefix of a number selects
// its base: 0x10 is 16, 010 is 8.
func (k Key) parse(text string) (any, error) {
	switch {
	case k.Type == "bool":
		value, err := strconv.ParseBool(cmp.Or(text, "false"))
		return value, because(err, "want true or false")
	case k.Type == "number":
		return k.number(text, 0)
	case k.Type == "fraction":
		return k.fraction(text)
	case k.Type == "dicts":
		return sharedDicts(text)
	case k.Type == "list of numbers":
		return k.numbers(text)
	case strings.HasPrefix(k.Type, "list of "):
		return k.list(text)
	}
	if severalWords[k.tags.Get("kind")] {
		text = lineBreak.ReplaceAllString(text, " ")
	}
	return text, k.check(text)
}

// severalWords are the kinds of texts in which nginx reads a line break as a space.
var severalWords = words("words protocols conditions pair buffers cpus logparams")

var lineBreak = regexp.MustCompile(`[ \t]*[\r\n]+[ \t]*`)

// number parses a number in a base; base 0 selects the base by the prefix (strconv.ParseInt).
func (k Key) number(text string, base int) (int, error) {
	parsed, err := strconv.ParseInt(cmp.Or(text, "0"), base, 64)
	if err != nil {
		return 0, errors.New("want a whole number")
	}
	value := int(parsed)
	least, most := bound(k.tags.Get("min"), 0), bound(k.tags.Get("max"), 1<<31-1)
	if value < least || value > most {
		return 0, fmt.Errorf("want a number from %d to %d", least, most)
	}
	return value, k.check(strconv.Itoa(value))
}

func (k Key) fraction(text string) (float64, error) {
	value, err := strconv.ParseFloat(cmp.Or(text, "0"), 64)
	most := bound(k.tags.Get("max"), 1)
	if err != nil || !(value >= 0 && value <= float64(most)) { // NaN fails both comparisons
		return 0, fmt.Errorf("want a number from 0 to %d", most)
	}
	return value, nil
}

func (k Key) numbers(text string) ([]int, error) {
	items, bad := k.list(text)
	var values []int
	for _, item := range items {
		value, err := k.number(item, 10)
		if err != nil {
			bad = cmp.Or(bad, fmt.Errorf("%q: %w", item, err))
			continue
		}
		values = append(values, value)
	}
	return values, bad
}

func bound(tag string, otherwise int) int {
	if value, err := strconv.Atoi(tag); err == nil {
		return value
	}
	return otherwise
}

// list splits at commas and drops empty items, as ingress-nginx does. It returns the
// good items, and an error that names the first bad one.
func (k Key) list(text string) (items []string, bad error) {
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" || slices.ContainsFunc(items, func(other string) bool { return k.same(other, item) }) {
			continue // nginx rejects some duplicates
		}
		if len(items) == mostItems {
			return items, fmt.Errorf("want at most %d items", mostItems)
		}
		if err := k.check(item); err != nil {
			bad = cmp.Or(bad, fmt.Errorf("%q: %w", item, err))
			continue
		}
		items = append(items, item)
	}
	return items, bad
}

// same reports whether two items of a list are the same. Names of headers, addresses, and keys of
// nginx's maps are compared regardless of case, but patterns as keys are not (ngx_http_map_module).
func (k Key) same(one, other string) bool {
	switch k.tags.Get("kind") {
	case "header", "ip", "cidr":
		return strings.EqualFold(one, other)
	case "mapkey":
		return one == other || !strings.HasPrefix(one, "~") && strings.EqualFold(one, other)
	}
	return one == other
}

// mostItems limits the length of lists, because most are written into every server or location.
const mostItems = 5000

func (k Key) check(text string) error {
	switch kind := k.tags.Get("kind"); {
	case strings.HasSuffix(k.Name, "-snippet"):
		return nil // one of nginx's own texts
	case kind == "quoted" && len(text) > longestFormat:
		return fmt.Errorf("want at most %d bytes, which nginx can read", longestFormat)
	case kind != "quoted" && TooLong(text) != "":
		return errors.New(TooLong(text))
	}
	if most := k.tags.Get("most"); most != "" && Bytes(text) > Bytes(most) {
		return fmt.Errorf("want at most %s", most)
	}
	if least := k.tags.Get("least"); least != "" && Bytes(text) < Bytes(least) {
		return fmt.Errorf("want at least %s", least)
	}
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
