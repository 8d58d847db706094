package custom

import (
	"bytes"
	"fmt"
	"reflect"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// customColumn fills one column from one path.
type customColumn struct {
	kind string // string, integer, number, boolean or date
	path *jsonpath.JSONPath
}

// customPrinter shows the columns of a version, by default the age.
func customPrinter(res *resource.Resource, columns []apiextensionsv1.CustomResourceColumnDefinition) (*resource.Printer, error) {
	if len(columns) == 0 {
		columns = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"}}
	}
	p := &resource.Printer{Columns: []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name"}}}
	var fills []customColumn
	for _, c := range columns {
		path, err := parseJSONPath(c.Name, c.JSONPath)
		if err != nil {
			return nil, err
		}
		fills = append(fills, customColumn{c.Type, path})
		p.Columns = append(p.Columns, metav1.TableColumnDefinition{
			Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority})
	}
	p.Cells = func(obj runtime.Object, now time.Time) []any {
		c := obj.(*object.Custom)
		cells := []any{c.Name}
		content, err := c.ToUnstructured(res.TypeMeta(""))
		for _, fill := range fills {
			if err != nil {
				cells = append(cells, nil)
				continue
			}
			cells = append(cells, fill.cell(content, now))
		}
		return cells
	}
	return p, nil
}

func parseJSONPath(name, path string) (*jsonpath.JSONPath, error) {
	p := jsonpath.New(name).AllowMissingKeys(true)
	if err := p.Parse("{" + path + "}"); err != nil {
		return nil, fmt.Errorf("column %s: path %s: %w", name, path, err)
	}
	return p, nil
}

// cell is the value of the column, nil if the object has none.
func (c customColumn) cell(content map[string]any, now time.Time) any {
	found, err := c.path.FindResults(content)
	if err != nil || len(found) == 0 || len(found[0]) == 0 {
		return nil
	}
	value := found[0][0].Interface()
	if value == nil {
		return nil
	}
	if c.kind == "string" {
		var text bytes.Buffer
		if c.path.PrintResults(&text, []reflect.Value{reflect.ValueOf(value)}) != nil {
			return nil
		}
		return text.String()
	}
	return typedCell(c.kind, value, now)
}

func typedCell(kind string, value any, now time.Time) any {
	switch value := value.(type) {
	case int64:
		if kind == "integer" {
			return value
		}
		if kind == "number" {
			return float64(value)
		}
	case float64:
		if kind == "integer" {
			return int64(value)
		}
		if kind == "number" {
			return value
		}
	case bool:
		if kind == "boolean" {
			return value
		}
	case string:
		if kind != "date" {
			return nil
		}
		t, err := time.Parse(time.RFC3339, value)
		if err != nil {
			return "<invalid>"
		}
		return resource.Since(metav1.NewTime(t), now)
	}
	return nil
}
