package codec

import (
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Table represents objects as rows of a meta.k8s.io/v1 Table. Each row embeds its object as include
// says: Metadata (the default), Object or None.
type Table struct {
	codec    Codec
	include  string
	headless bool // without columns: a watcher gets the columns with its first row only
}

// WithoutColumns returns the representation of the rows after the first one of a watch.
func WithoutColumns(f Representation) Representation {
	switch f := f.(type) {
	case Table:
		f.headless = true
		return f
	case View:
		return View{WithoutColumns(f.Representation), f.Resource}
	}
	return f
}

func (f Table) Object(o *store.Object, _ bool) ([]byte, error) {
	table, err := f.table(o.Resource, []*store.Object{o}, metav1.ListMeta{ResourceVersion: object.ShownVersion(o.Version)})
	if err != nil {
		return nil, err
	}
	return f.codec.Value(table)
}

func (f Table) List(w io.Writer, res *resource.Resource, objects []*store.Object, m metav1.ListMeta) error {
	table, err := f.table(res, objects, m)
	if err != nil {
		return err
	}
	b, err := f.codec.Value(table)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func (f Table) table(res *resource.Resource, objects []*store.Object, m metav1.ListMeta) (*metav1.Table, error) {
	p := res.Printer
	if p == nil {
		p = resource.DefaultPrinter
	}
	table := &metav1.Table{
		TypeMeta:          metav1.TypeMeta{Kind: "Table", APIVersion: "meta.k8s.io/v1"},
		ListMeta:          m,
		ColumnDefinitions: p.Columns,
		Rows:              make([]metav1.TableRow, 0, len(objects)),
	}
	if f.headless {
		table.ColumnDefinitions = nil
	}
	if len(objects) == 0 && p == resource.DefaultPrinter {
		table.Rows = nil // null, as in kube-apiserver for a kind with the default columns
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

func (f Table) row(o *store.Object, p *resource.Printer, now time.Time) (metav1.TableRow, error) {
	obj, err := o.Decode()
	if err != nil {
		return metav1.TableRow{}, err
	}
	row := metav1.TableRow{Cells: p.Cells(obj, now)}
	switch f.include {
	case "None":
	case "Object":
		row.Object.Raw, err = JSON{}.Object(o, false)
	default:
		row.Object.Raw, err = Partial{JSON{}}.Object(o, false)
	}
	return row, err
}
