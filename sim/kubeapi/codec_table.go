package kubeapi

import (
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
