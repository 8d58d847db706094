package behave

// Values are the values of a header: in a file, one text, a list of texts, or null for none.
type Values []string

// Statuses are statuses of which one must be answered: in a file, one number or a list.
type Statuses []int

// Count is a number of answers or lines: in a file, a number, or a mapping with min and max.
type Count struct {
	Min *int `yaml:"min,omitempty"`
	Max *int `yaml:"max,omitempty"`
}
