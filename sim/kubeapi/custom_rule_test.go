package kubeapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const ruledDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"ranges.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"ranges","kind":"Range"},"versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",
"x-kubernetes-validations":[{"rule":"self.min <= self.max","message":"min must not exceed max"},
 {"rule":"self.max < 100","messageExpression":"'max ' + string(self.max) + ' is too much'","reason":"FieldValueForbidden","fieldPath":".max"},
 {"rule":"!has(self.until) || self.until > timestamp('2024-01-01T00:00:00Z')"},
 {"rule":"!has(self.__namespace__) || self.__namespace__ == 'a'"},{"rule":"url(self.name).getHost() == ''"}],
"properties":{"min":{"type":"integer"},"max":{"type":"integer"},"until":{"type":"string","format":"date-time"},"namespace":{"type":"string"},
"name":{"type":"string","x-kubernetes-validations":[{"rule":"self == oldSelf","message":"is immutable"},{"rule":"self.startsWith('a')"}]},
"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],"items":{"type":"object","required":["id"],
 "properties":{"id":{"type":"string"},"size":{"type":"integer","x-kubernetes-validations":[{"rule":"self >= oldSelf"}]}}}},
"any":{"type":"object","additionalProperties":{"type":"string","x-kubernetes-validations":[{"rule":"self != 'bad'"}]}}}}}}}}]}}`

// Rules are evaluated for the values that exist, and rules about changes only if both values are
// known.
func TestValidationRules(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	if code, status := w.do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", ruledDefinition); code != http.StatusCreated {
		t.Fatal(status)
	}
	const path = "/apis/example.com/v1/namespaces/default/ranges"
	of := func(spec string) string {
		return `{"apiVersion":"example.com/v1","kind":"Range","metadata":{"name":"a"},"spec":{"min":1,"max":5,` + spec + `}}`
	}
	if code, status := w.do("POST", path, of(`"name":"ab","parts":[{"id":"x","size":3},{"id":"y","size":1}]`)); code != http.StatusCreated {
		t.Fatal(status)
	}
	for _, test := range []struct{ method, spec, want string }{
		{"POST", `"min":6`, "spec FieldValueInvalid Invalid value: min must not exceed max"},
		{"POST", `"max":100`, "spec.max FieldValueForbidden Forbidden: max 100 is too much"},
		{"POST", `"until":"2023-01-01T00:00:00Z"`, "spec FieldValueInvalid Invalid value: failed rule: !has(self.until) || self.until > timestamp('2024-01-01T00:00:00Z')"},
		{"POST", `"namespace":"b"`, "spec FieldValueInvalid Invalid value: failed rule: !has(self.__namespace__) || self.__namespace__ == 'a'"},
		{"POST", `"name":"b"`, `spec.name FieldValueInvalid Invalid value: "b": failed rule: self.startsWith('a')`},
		{"POST", `"any":{"k":"bad"}`, `spec.any[k] FieldValueInvalid Invalid value: "bad": failed rule: self != 'bad'`},
		{"PATCH", `{"spec":{"name":"abc"}}`, `spec.name FieldValueInvalid Invalid value: "abc": is immutable`},
		{"PATCH", `{"spec":{"parts":[{"id":"y","size":2},{"id":"x","size":2}]}}`, `spec.parts[1].size FieldValueInvalid Invalid value: 2: failed rule: self >= oldSelf`},
		{"PATCH", `{"spec":{"parts":[{"id":"z","size":0}],"any":{"k":"good"}}}`, ""},
	} {
		at, kind, body := path, "application/json", of(test.spec)
		if test.method == "PATCH" {
			at, kind, body = path+"/a", "application/merge-patch+json", test.spec
		}
		_, status := w.answer(w.send(test.method, at, kind, body))
		got := ""
		list, _, _ := unstructured.NestedSlice(status.Object, "details", "causes")
		if len(list) > 0 {
			cause := list[0].(map[string]any)
			got = strings.Join([]string{cause["field"].(string), cause["reason"].(string), cause["message"].(string)}, " ")
		}
		if got != test.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", test.method, test.spec, got, test.want)
		}
	}
	broken := strings.ReplaceAll(strings.Replace(ruledDefinition, "self.min <= self.max", "self.min <=", 1), "anges", "angez")
	if code, status := w.do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", broken); code != http.StatusUnprocessableEntity ||
		!slices.ContainsFunc(causes(status), func(c string) bool { return strings.Contains(c, "x-kubernetes-validations[0].rule") }) {
		t.Errorf("an invalid rule: %d %v", code, causes(status))
	}
}
