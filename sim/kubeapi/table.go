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

// print makes a printer of columns, in one string separated by spaces ("_"
// stands for a space in a name), and of what fills them. A "+" marks a column
// that only -o wide shows.
func print[T runtime.Object](columns string, cells func(obj T, now time.Time) []any) *printer {
	p := &printer{cells: func(obj runtime.Object, now time.Time) []any { return cells(obj.(T), now) }}
	for _, name := range strings.Fields(columns) {
		column := metav1.TableColumnDefinition{Name: name, Type: "string"}
		if wide, ok := strings.CutPrefix(name, "+"); ok {
			column.Name, column.Priority = wide, 1
		}
		if name == "Name" {
			column.Format = "name"
		}
		column.Name = strings.ReplaceAll(column.Name, "_", " ")
		p.columns = append(p.columns, column)
	}
	return p
}

var defaultPrinter = print("Name Age", func(obj metav1Object, now time.Time) []any {
	return []any{obj.GetName(), age(obj, now)}
})

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
	codec   codec
	include string
}

func (f tableForm) object(o *object, _ bool) ([]byte, error) {
	table, err := f.table(o.res, []*object{o}, metav1.ListMeta{ResourceVersion: formatRV(o.rv)})
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
