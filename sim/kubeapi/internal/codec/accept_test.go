package codec

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestNegotiatePrefersHigherQuality(t *testing.T) {
	for accept, want := range map[string]string{
		"": "application/json",
		"application/yaml;q=0.5, application/json":                          "application/json",
		"application/yaml;q=0.5, application/json;q=0.4":                    YAMLType,
		"*/*, application/yaml":                                             YAMLType,
		"application/json, " + ProtobufType:                                 "application/json",
		ProtobufType + ", application/json":                                 ProtobufType,
		"text/html, application/json;q=0.2, application/yaml;q=0.8;v=1":     YAMLType,
		"application/json;as=Table;v=v1;g=meta.k8s.io, application/yaml;q=": "application/json",
	} {
		req := httptest.NewRequest(http.MethodGet, "/api/v1/pods", nil)
		req.Header.Set("Accept", accept)
		c, _, err := Negotiate(req, false)
		if err != nil || c.MediaType() != want {
			t.Errorf("Accept %q gets %s (%v), want %s", accept, c.MediaType(), err, want)
		}
	}
}
