package resource

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Printer shows the objects of a kind as rows, as kubectl get prints them.
type Printer struct {
	Columns []metav1.TableColumnDefinition
	Cells   func(obj runtime.Object, now time.Time) []any
}

// marks are the prefixes of column names that set a type other than string.
var marks = map[byte]string{'#': "integer", '?': "boolean", '@': "date"}

// NewPrinter returns a printer. The columns are names separated by spaces, in which "_" replaces a
// space. The prefix "+" marks a column that only -o wide shows, and the marks set its type. cells
// returns the values of a row in the order of the columns.
func NewPrinter[T runtime.Object](columns string, cells func(obj T, now time.Time) []any) *Printer {
	p := &Printer{Cells: func(obj runtime.Object, now time.Time) []any { return cells(obj.(T), now) }}
	for _, name := range strings.Fields(columns) {
		column := metav1.TableColumnDefinition{Name: name, Type: "string"}
		if wide, ok := strings.CutPrefix(name, "+"); ok {
			column.Name, column.Priority = wide, 1
		}
		if kind, marked := marks[column.Name[0]]; marked {
			column.Name, column.Type = column.Name[1:], kind
		}
		if column.Name == "Name" {
			column.Format = "name"
		}
		column.Name = strings.ReplaceAll(column.Name, "_", " ")
		p.Columns = append(p.Columns, column)
	}
	return p
}

// DefaultPrinter prints the kinds without a printer of their own.
var DefaultPrinter = NewPrinter("Name @Created_At", func(obj metav1Object, _ time.Time) []any {
	return []any{obj.GetName(), created(obj)}
})

func created(obj metav1.Object) string {
	return obj.GetCreationTimestamp().UTC().Format(time.RFC3339)
}

// metav1Object is an object of any built-in kind.
type metav1Object interface {
	runtime.Object
	metav1.Object
}

// Age returns the time since obj was created, as kubectl prints it.
func Age(obj metav1.Object, now time.Time) string { return Since(obj.GetCreationTimestamp(), now) }

// Since returns the time since t, as kubectl prints it.
func Since(t metav1.Time, now time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(t.Time))
}
