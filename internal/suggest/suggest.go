// Package suggest finds the known word that a user probably meant by a misspelt one.
package suggest

// Nearest returns the known word that is closest to word, or "" if none is close. A known word is
// close if the number of letters to insert, delete or replace is at most a third of its length, or
// one. Of equally close words it returns the first.
func Nearest(word string, known []string) string {
	nearest, least := "", 0
	for _, candidate := range known {
		most := max(1, len(candidate)/3)
		if max(len(word)-len(candidate), len(candidate)-len(word)) > most {
			continue // saves the computation for very long words
		}
		if d := distance(word, candidate); d <= most && (nearest == "" || d < least) {
			nearest, least = candidate, d
		}
	}
	return nearest
}

// DidYouMean returns a question that names the nearest known word, or "" if none is close.
func DidYouMean(word string, known []string) string {
	if nearest := Nearest(word, known); nearest != "" {
		return "did you mean " + nearest + "?"
	}
	return ""
}

// distance returns the number of letters to insert, delete or replace to turn a into b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			exchange := diagonal
			if a[i] != b[j] {
				exchange++
			}
			diagonal = row[j+1]
			row[j+1] = min(exchange, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
