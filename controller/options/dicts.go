package options

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Limits of ingress-nginx for Lua's shared dictionaries.
const (
	maxDictKB = 204800
	maxDicts  = 100
)

// allDictsKB limits the total size. The workers share the dictionaries, which occupy the machine's
// memory.
const allDictsKB = 4 << 20

// ownDict is a dictionary of nginx.conf whose size cannot be set.
const ownDict = "luaconfig"

var dictEntry = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)\s*:\s*(\d{1,9})([kKmM]?)$`)

// sharedDicts parses "name: size, …" into sizes in KB. A size without a unit is in MB.
func sharedDicts(text string) (map[string]int, error) {
	sizes := make(map[string]int)
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		parts := dictEntry.FindStringSubmatch(entry)
		if parts == nil {
			return nil, fmt.Errorf("%q: want name: size, with the size in MB or as 512k, 20M", entry)
		}
		kb, err := strconv.Atoi(parts[2])
		if err != nil {
			return nil, fmt.Errorf("%q: want a whole number", entry)
		}
		if !strings.EqualFold(parts[3], "k") {
			kb *= 1024
		}
		if kb < 1 || kb > maxDictKB {
			return nil, fmt.Errorf("%q: want a size from 1k to %dM", entry, maxDictKB/1024)
		}
		sizes[parts[1]] = kb
	}
	if _, own := sizes[ownDict]; own {
		return nil, fmt.Errorf("%s is reserved by nginx.conf", ownDict)
	}
	all := 0
	for _, kb := range sizes {
		all += kb
	}
	if all > allDictsKB {
		return nil, fmt.Errorf("want at most %dM together", allDictsKB/1024)
	}
	if len(sizes) > maxDicts {
		return nil, errors.New("want at most 100 dictionaries")
	}
	return sizes, nil
}
