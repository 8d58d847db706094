package codec

import (
	"fmt"
)

// MaxDepth bounds the nesting of a custom object, and of an applied one: the paths of
// managed fields grow with each level.
const MaxDepth = 1000

func ErrTooDeep(levels int) error {
	return fmt.Errorf("the object has %d levels, and may have %d", levels, MaxDepth)
}

// Depth returns the nesting depth of a JSON value.
func Depth(value any) (levels int) {
	switch value := value.(type) {
	case map[string]any:
		for _, v := range value {
			levels = max(levels, Depth(v))
		}
		return levels + 1
	case []any:
		for _, v := range value {
			levels = max(levels, Depth(v))
		}
		return levels + 1
	}
	return 0
}

// Nesting returns the depth of JSON text, and its size, in which each byte counts once for every object
// or list that contains it. The text need not be valid.
func Nesting(text []byte) (deepest, bytes int) {
	level, quoted, escaped := 0, false, false
	for _, c := range text {
		bytes += level
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest, bytes
}
