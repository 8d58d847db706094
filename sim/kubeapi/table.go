package kubeapi

import (
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// printer says how kubectl get shows a kind.
type printer struct {
	columns []metav1.TableColumnDefinition
	cells   func(obj runtime.Object, now time.Time) []any
}

// marks are what a column's name may begin with: its type, a string if there is none.
var marks = map[byte]string{'#': "integer", '?': "boolean", '@': "date"}

// print makes a printer of columns, in one string separated by spaces ("_"
// stands for a space in a name), and of what fills them. A "+" marks a column
// that only -o wide shows; marks are those of types.
func print[T runtime.Object](columns string, cells func(obj T, now time.Time) []any) *printer {
	p := &printer{cells: func(obj runtime.Object, now time.Time) []any { return cells(obj.(T), now) }}
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
		p.columns = append(p.columns, column)
	}
	return p
}

// defaultPrinter is that of kinds without a table of their own.
var defaultPrinter = print("Name @Created_At", func(obj metav1Object, _ time.Time) []any {
	return []any{obj.GetName(), created(obj)}
})

func created(obj metav1.Object) string {
	return obj.GetCreationTimestamp().UTC().Format(time.RFC3339)
}

// metav1Object is any built-in kind.
type metav1Object interface {
	runtime.Object
	metav1.Object
}

func age(obj metav1.Object, now time.Time) string { return since(obj.GetCreationTimestamp(), now) }

func since(t metav1.Time, now time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(t.Time))
}

// tableForm is objects as rows of a meta.k8s.io/v1 Table. Each row embeds its
// object as include says: Metadata (the default), Object or None.
type tableForm struct {
	codec    codec
	include  string
	headless bool // without columns: a watcher gets them with the first row only
}

// withoutColumns is the form of the rows after the first.
func withoutColumns(f form) form {
	switch f := f.(type) {
	case tableForm:
		f.headless = true
		return f
	case viewForm:
		return viewForm{withoutColumns(f.form), f.res}
	}
	return f
}

func (f tableForm) object(o *object, _ bool) ([]byte, error) {
	table, err := f.table(o.res, []*object{o}, metav1.ListMeta{ResourceVersion: shownRV(o.rv)})
	if err != nil {
		return nil, err
	}
	return f.codec.value(table)
}

func (f tableForm) list(w io.Writer, res *resource, objects []*object, m metav1.ListMeta) error {
	table, err := f.table(res, objects, m)
	if err != nil {
		return err
	}
	b, err := f.codec.value(table)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func (f tableForm) table(res *resource, objects []*object, m metav1.ListMeta) (*metav1.Table, error) {
	p := res.printer
	if p == nil {
		p = defaultPrinter
	}
	table := &metav1.Table{
		TypeMeta:          metav1.TypeMeta{Kind: "Table", APIVersion: "meta.k8s.io/v1"},
		ListMeta:          m,
		ColumnDefinitions: p.columns,
		Rows:              make([]metav1.TableRow, 0, len(objects)),
	}
	if f.headless {
		table.ColumnDefinitions = nil
	}
	if len(objects) == 0 && p == defaultPrinter {
		table.Rows = nil // null, as kube-apiserver has it for these
	}
	now := time.Now()
	for _, o := range objects {
		row, err := f.row(o, p, now)
		if err != nil {
			return nil, err
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}

func (f tableForm) row(o *object, p *printer, now time.Time) (metav1.TableRow, error) {
	obj, err := o.decode()
	if err != nil {
		return metav1.TableRow{}, err
	}
	row := metav1.TableRow{Cells: p.cells(obj, now)}
	switch f.include {
	case "None":
	case "Object":
		row.Object.Raw, err = jsonCodec{}.object(o, false)
	default:
		row.Object.Raw, err = partialForm{jsonCodec{}}.object(o, false)
	}
	return row, err
}
