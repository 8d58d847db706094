package codec

import (
	"cmp"
	"mime"
	"slices"
	"strconv"
	"strings"
)

// clause is one media type of an Accept header.
type clause struct {
	mediaType string
	params    map[string]string
	quality   float64
}

// clausesOf returns the clauses of an Accept header, the preferred ones first: those of a higher
// quality and, of the same quality, those without a wildcard. It skips malformed clauses.
func clausesOf(accept string) (clauses []clause) {
	for text := range strings.SplitSeq(accept, ",") {
		mediaType, params, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		quality := 1.0
		if q, given := params["q"]; given {
			quality, _ = strconv.ParseFloat(q, 64) // 0 if it is not a number, as in kube-apiserver
		}
		clauses = append(clauses, clause{mediaType, params, quality})
	}
	slices.SortStableFunc(clauses, func(a, b clause) int {
		return cmp.Or(cmp.Compare(b.quality, a.quality), cmp.Compare(strings.Count(a.mediaType, "*"), strings.Count(b.mediaType, "*")))
	})
	return clauses
}
