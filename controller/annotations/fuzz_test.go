package annotations_test

import (
	"reflect"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
)

// enabling are annotations without which others have no effect.
var enabling = map[string]string{
	"affinity": "cookie", "auth-tls-secret": "shop/ca", "auth-type": "basic", "auth-secret": "users", "auth-url": "http://auth.example",
	"canary": "true", "enable-cors": "true", "mirror-target": "http://copy.example", "proxy-ssl-secret": "shop/client", "limit-rps": "1",
}

// Parsing two arbitrary annotations does not panic, and accepted values contain no line breaks,
// quotes, semicolons or comments: a value cannot leave its directive. Snippets can do so by design,
// and are disabled here.
func FuzzParse(f *testing.F) {
	var names []string
	for _, family := range annotations.Families() {
		for _, key := range family.Keys {
			names = append(names, key.Name)
			names = append(names, key.Aliases...)
		}
	}
	for i := range names {
		f.Add(uint8(i), "1\n2", uint8(i+1), "on")
		f.Add(uint8(i), "https://a.example/x,10.0.0.0/8", uint8(i+7), "fe80::1%;}")
		f.Add(uint8(i), "off", uint8(i), "a b")
	}
	opts := options.Options{Config: options.Defaults(2, true)}
	plain, _, _ := annotations.Parse(new(networkingv1.Ingress), opts)
	f.Fuzz(func(t *testing.T, one uint8, first string, other uint8, second string) {
		given := make(map[string]string)
		for name, value := range enabling {
			given[annotations.DefaultPrefix+"/"+name] = value
		}
		given[annotations.DefaultPrefix+"/"+names[int(one)%len(names)]] = first
		given[annotations.DefaultPrefix+"/"+names[int(other)%len(names)]] = second
		in := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Annotations: given}}
		set, problems, err := annotations.Parse(in, opts)
		if err != nil {
			if !strings.Contains(err.Error(), "the ingress is rejected") {
				t.Errorf("error %v does not say that the ingress is rejected", err)
			}
			return
		}
		unsafe(t, "", reflect.ValueOf(plain), reflect.ValueOf(set))
		again, same, _ := annotations.Parse(in, opts)
		if !reflect.DeepEqual(set, again) || !reflect.DeepEqual(problems, same) {
			t.Error("parsing the same annotations again gives another result")
		}
	})
}

// unsafe checks the values that differ from those without annotations for text that could end a
// directive of nginx.conf.
func unsafe(t *testing.T, path string, was, is reflect.Value) {
	switch is.Kind() {
	case reflect.String:
		if was.IsValid() && was.String() == is.String() {
			return
		}
		if strings.ContainsAny(is.String(), "\r\n\x00\";#'") {
			t.Errorf("%s = %q", path, is.String())
		}
	case reflect.Slice:
		for i := range is.Len() {
			unsafe(t, path, reflect.Value{}, is.Index(i))
		}
	case reflect.Struct:
		for i := range is.NumField() {
			unsafe(t, path+"."+is.Type().Field(i).Name, was.Field(i), is.Field(i))
		}
	case reflect.Pointer: // Denied becomes a comment: it only needs to be one line
		if text, ok := is.Interface().(*string); ok && text != nil && strings.ContainsAny(*text, "\r\n") {
			t.Errorf("%s = %q", path, *text)
		}
	}
}
