package options

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"windtunnel.dev/internal/suggest"
)

// Key is one row of the table.
type Key struct {
	Name     string
	Type     string // for users: bool, number, size, list of header …
	Default  string
	Doc      string
	Protects Protection
	field    int
	tags     reflect.StructTag
}

// Protection says whether a key affects the protection of locations. The quarantine serves an
// earlier value of a key only if that protects no less than the wanted one.
type Protection string

// The values of the tag protects.
const (
	// Protecting keys restrict access, determine the client's identity, or decide what passes
	// between client, nginx and pods.
	Protecting Protection = "yes"
	// Harmless keys do none of that.
	Harmless Protection = "no"
	// Directives are texts with nginx directives, only some of which protect.
	Directives Protection = "directives"
	// Gate keys decide which ingresses and annotations are accepted. If nginx rejects something
	// that they admit, the ingress is at fault, not the key.
	Gate Protection = "gate"
)

// Keys returns the table, in its order.
func Keys() []Key { return slices.Clone(table) }

// ProtectionOf returns the Protection of a key; Protecting if the key is unknown.
func ProtectionOf(key string) Protection {
	i := slices.IndexFunc(table, func(k Key) bool { return k.Name == key })
	if i < 0 {
		return Protecting
	}
	return table[i].Protects
}

var table = readTable()

func readTable() []Key {
	var keys []Key
	config := reflect.TypeFor[Config]()
	for i := range config.NumField() {
		field := config.Field(i)
		keys = append(keys, Key{
			Name: field.Tag.Get("key"), Type: typeName(field), Default: field.Tag.Get("default"),
			Doc: field.Tag.Get("doc"), Protects: Protection(field.Tag.Get("protects")), field: i, tags: field.Tag,
		})
	}
	return keys
}

// Defaults returns the values of an empty ConfigMap. Two of them depend on the machine: cpus is the
// number of workers (0: nginx decides), and ipv6 reports whether the machine has an IPv6 address.
func Defaults(cpus int, ipv6 bool) Config {
	var config Config
	for _, key := range table {
		value, err := key.parse(key.Default)
		if err != nil {
			panic(fmt.Sprintf("options: default of %s: %v", key.Name, err)) // a defect of the table; every test finds it
		}
		key.set(&config, value)
	}
	if cpus > 0 {
		config.WorkerProcesses = fmt.Sprint(cpus)
	}
	config.DisableIpv6DNS = !ipv6
	return config
}

// Parse applies the data of the ConfigMap to the defaults. Bad values and unknown keys become
// problems, in the order of the keys. The good items of a list are used even if other items are
// bad.
func Parse(data map[string]string, defaults Config) (Config, []Problem) {
	config := defaults
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(data)) {
		i := slices.IndexFunc(table, func(k Key) bool { return k.Name == name })
		if i < 0 {
			problems = append(problems, Problem{Key: name, Value: data[name], Reason: noSuchKey(name)})
			continue
		}
		value, err := table[i].parse(strings.TrimSpace(data[name]))
		used := ""
		switch {
		case err == nil || hasItems(value):
			table[i].set(&config, value)
			used = table[i].show(&config)
		default:
			used = table[i].giveUp(&config, defaults)
		}
		if err != nil {
			problems = append(problems, Problem{Key: name, Value: data[name], Reason: err.Error(), Used: used})
		}
	}
	return config, append(problems, dropConflicts(&config, defaults)...)
}

// Names returns the names of all keys, in the order of the table.
func Names() []string {
	names := make([]string, len(table))
	for i, key := range table {
		names[i] = key.Name
	}
	return names
}

// noSuchKey returns the message for an unknown key, with the key that was probably meant.
func noSuchKey(name string) string {
	const reason = "this controller has no such key; ignored"
	if question := suggest.DidYouMean(name, Names()); question != "" {
		return reason + "; " + question
	}
	return reason
}

// hasItems reports whether value is a list that is not empty.
func hasItems(value any) bool {
	list := reflect.ValueOf(value)
	return list.Kind() == reflect.Slice && list.Len() > 0
}

// set sets the key's field to a value that parse returned.
func (k Key) set(config *Config, value any) {
	field := reflect.ValueOf(config).Elem().Field(k.field)
	if sizes, ok := value.(map[string]int); ok {
		merged := maps.Clone(sizes)
		for name, size := range field.Interface().(map[string]int) {
			if _, given := merged[name]; !given {
				merged[name] = size // Lua fails without the default dictionaries
			}
		}
		value = merged
	}
	field.Set(reflect.ValueOf(value))
}

// giveUp replaces a bad value by the key's default and describes the value in use. If the value is
// a list of allowed clients, no client is allowed.
func (k Key) giveUp(config *Config, defaults Config) string {
	switch k.Name {
	case globalAuthURL:
		config.GlobalAuthURL = Unanswered
		return denied
	case allowedNetworks:
		config.WhitelistSourceRange = []string{nobody}
		return "a list without any client"
	}
	reflect.ValueOf(config).Elem().Field(k.field).Set(reflect.ValueOf(defaults).Field(k.field))
	return k.show(&defaults)
}

const (
	allowedNetworks = "whitelist-source-range"
	nobody          = "0.0.0.0/32" // no client has this address (RFC 1122, section 3.2.1.3)
)

// show formats the key's value as a user would write it.
func (k Key) show(config *Config) string {
	field := reflect.ValueOf(config).Elem().Field(k.field)
	switch field.Kind() { // most keys; each sync shows them, and Interface allocates
	case reflect.String:
		return field.String()
	case reflect.Bool:
		return strconv.FormatBool(field.Bool())
	case reflect.Int:
		return strconv.FormatInt(field.Int(), 10)
	}
	switch value := field.Interface().(type) {
	case map[string]int:
		return k.Default
	case []string:
		return strings.Join(value, ",")
	case []int:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(value), " ", ","), "[]")
	default:
		return fmt.Sprint(value)
	}
}
