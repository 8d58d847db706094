package model_test

import (
	"regexp"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
)

// answeredBy returns the location that nginx would choose. If one path of a server is a pattern,
// nginx matches all as patterns, ignoring case, and uses the first match.
func answeredBy(all []*model.Location, patterns bool, request string) *model.Location {
	var best *model.Location
	for _, l := range all {
		switch {
		case patterns && regexp.MustCompile("(?i)^"+l.Path).MatchString(request):
			return l
		case patterns:
		case *l.PathType == networkingv1.PathTypeExact && l.Path == request:
			return l
		case *l.PathType == networkingv1.PathTypePrefix && strings.HasPrefix(request, l.Path) && (best == nil || len(l.Path) > len(best.Path)):
			best = l
		}
	}
	return best
}

// Requests for a path that nginx.conf cannot contain never reach the location of a shorter path.
func TestAPathThatDoesNotFitIsDenied(t *testing.T) {
	long := strings.Repeat("x", 4000)
	for name, test := range map[string]struct {
		path      string
		isPattern bool
		request   string // "" for the path itself
		want      string // kept, denied or left out
		others    string // a request that is still answered by the shorter path
	}{
		"it fits":                             {"/" + long[:3997], false, "", "kept", "/"},
		"too long":                            {"/" + long[:3998], false, "", "denied", "/x"},
		"much too long":                       {"/a/" + strings.Repeat(long, 5), false, "", "denied", "/a/b"},
		"dollars fit":                         {"/" + strings.Repeat("$", 200), false, "", "kept", "/$"},
		"too many dollars":                    {"/" + strings.Repeat("$", 240), false, "", "denied", "/$"},
		"too many backslashes":                {"/" + strings.Repeat(`\`, 2500), false, "", "denied", `/\`},
		"letters of several bytes":            {"/" + strings.Repeat("ü", 3000), false, "", "denied", "/ü"},
		"a control character":                 {"/admin/\x01/x", false, "", "denied", "/admin"},
		"below such":                          {"/admin/\x01/x", false, "/admin/\x01/x/y", "denied", "/admi"},
		"a control character at once":         {"/\x01", false, "", "left out", "/"},
		"a pattern, too long":                 {"/admin/(a|b)" + long, true, "/admin/a" + long, "denied", "/adm"},
		"a pattern of which little is fixed":  {"/(a|b)" + long, true, "/a" + long, "left out", "/"},
		"a pattern that only PCRE knows":      {"/(?=a)" + long, true, "/a" + long, "left out", "/"},
		"no pattern, grown too long":          {"/(" + strings.Repeat("+", 1500), true, "", "denied", "/(+"},
		"no pattern, too long from the start": {"/(" + strings.Repeat("+", 4500), true, "", "denied", "/(+"},
	} {
		t.Run(name, func(t *testing.T) {
			ingress := ingress("web", path(test.path, false), path("/", false))
			if test.isPattern {
				ingress.Annotations = map[string]string{annotations.DefaultPrefix + "/use-regex": "true"}
			}
			if test.request == "" {
				test.request = test.path
			}
			all, findings := locations(ingress)
			told := func(reason string) bool {
				for _, finding := range findings {
					if strings.Contains(finding.Reason, reason) {
						return true
					}
				}
				return false
			}
			got := answeredBy(all, test.isPattern, test.request)
			switch test.want {
			case "kept":
				if got.Denied != nil || len(got.Path) < 100 {
					t.Errorf("denied %v by %.50s", got.Denied, got.Path)
				}
			case "denied":
				if got.Denied == nil || !told("requests with the same beginning get 503") {
					t.Errorf("answered by %.50s, findings %v", got.Path, findings)
				}
			default:
				if got.Denied != nil || !told("may be answered by a shorter path") {
					t.Errorf("denied %v, findings %v", got.Denied, findings)
				}
			}
			if other := answeredBy(all, test.isPattern, test.others); other.Denied != nil || other.Path != "/" {
				t.Errorf("%s is answered by %.50s, denied %v", test.others, other.Path, other.Denied)
			}
		})
	}
}
