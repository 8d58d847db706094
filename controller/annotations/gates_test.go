package annotations_test

import (
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
)

// gate is an ingress, and the expected result of parsing its annotations.
type gate struct {
	given, config string // annotations and keys of the ConfigMap, a line each
	options       func(*options.Options)
	rejected      string // substring of the error
	denied        string // substring of the reason
	finding       string // substring of a finding
	holds         func(annotations.Set) bool
}

var gates = map[string]gate{
	"the level itself is taken": {
		given: `server-alias: a.example`, holds: func(s annotations.Set) bool { return len(s.Aliases) == 1 },
	},
	"an alias has the form of a host, and a pattern stays as it is": {
		given: `server-alias: 'WWW.A.example, ~^\D+\.b\.example$'`, holds: func(s annotations.Set) bool {
			return slices.Equal(s.Aliases, []string{"www.a.example", `~^\D+\.b\.example$`})
		},
	},
	"an alias with a leading dot is two names": {
		given: `server-alias: .a.example`, holds: func(s annotations.Set) bool {
			return slices.Equal(s.Aliases, []string{"a.example", "*.a.example"})
		},
	},
	"above the level": {
		given: `server-alias: a.example`, config: `annotations-risk-level: Medium`, rejected: "its risk is High, and annotations-risk-level is Medium",
	},
	"the level in other letters": {
		given: `server-snippet: "# a"`, config: "annotations-risk-level: cRITICAL\nallow-snippet-annotations: \"true\"", holds: func(s annotations.Set) bool { return s.Snippets.Server == "# a" },
	},
	"an unknown level is Low": {
		given: `app-root: /a`, config: `annotations-risk-level: Highest`, rejected: "annotations-risk-level is Low",
	},
	"a risky annotation rejects even when it is empty": {
		given: `server-snippet: ""`, rejected: "its risk is Critical",
	},
	"a risky annotation rejects by its old name, too": {
		given: `whitelist-source-range: 10.0.0.0/8`, config: `annotations-risk-level: Low`, rejected: "/whitelist-source-range: its risk is Medium",
	},
	"a bad value is reported under the name that the ingress has": {
		given: `whitelist-source-range: x`, denied: "/whitelist-source-range",
	},
	"a bad value that rejects, under its old name": {
		given: "limit-rps: \"1\"\nlimit-whitelist: x", rejected: "/limit-whitelist",
	},
	"what we do not know has no risk": {
		given: `server-snippets: x`, config: `annotations-risk-level: Low`, finding: "did you mean nginx.ingress.kubernetes.io/server-snippet?",
		holds: func(s annotations.Set) bool { return s.Denied == nil },
	},
	"a forbidden word": {
		given: `upstream-vhost: internal.example`, config: `annotation-value-word-blocklist: "secret, intern"`, rejected: `its value has "intern"`,
	},
	"a forbidden word in what we do not know": {
		given: `unknown: internal`, config: `annotation-value-word-blocklist: intern`, rejected: `/unknown: its value has "intern"`,
	},
	"the first of two errors is told": {
		given: "load-balance: fair\nconnection-proxy-header: x", rejected: "/load-balance",
	},
	"rejecting goes before denying": {
		given: "allowlist-source-range: x\nload-balance: fair", rejected: "/load-balance",
	},
	"denied": {
		given: `denylist-source-range: x`, denied: "/denylist-source-range", finding: "its requests get 503",
	},
	"the first reason to deny stands": {
		given: "auth-url: /a\ndenylist-source-range: x", denied: "/auth-url",
	},
	"a value of several lines": {
		given: "upstream-vhost: \"a\\nb\"", rejected: "/upstream-vhost",
	},
	"lines are trimmed": {
		given: "upstream-vhost: \"  a.example \\n\"", holds: func(s annotations.Set) bool { return s.UpstreamVhost == "a.example" },
	},
	"an empty value is none, where a bad one rejects": {
		given: `load-balance: " "`, finding: "it is empty; it is ignored", holds: func(s annotations.Set) bool { return s.Backend.LoadBalance == "" },
	},
	"an empty value is none, where a bad one denies": {
		given: `denylist-source-range: ""`, finding: "it is empty; it is ignored", holds: func(s annotations.Set) bool { return s.Denied == nil },
	},
	"a list of nothing denies": {
		given: `allowlist-source-range: ","`, denied: "/allowlist-source-range",
	},
	"without validation values are taken": {
		given: `upstream-vhost: "a b"`, options: func(o *options.Options) { o.SkipAnnotationValidation = true },
		holds: func(s annotations.Set) bool { return s.UpstreamVhost == "a b" },
	},
	"without validation, a text that is not a number has no effect": {
		given: `limit-rps: "a lot"`, options: func(o *options.Options) { o.SkipAnnotationValidation = true },
		rejected: "want a whole number; the ingress is rejected",
	},
	"without validation what cannot be parsed still denies": {
		given: `allowlist-source-range: office`, options: func(o *options.Options) { o.SkipAnnotationValidation = true },
		denied: "/allowlist-source-range",
	},
	"a realm that asks for no password": {
		given: "auth-type: basic\nauth-secret: passwords\nauth-realm: \"off\"", rejected: "/auth-realm",
	},
	"without validation, a realm that clients choose": {
		given: "auth-type: basic\nauth-secret: passwords\nauth-realm: $arg_realm", options: func(o *options.Options) { o.SkipAnnotationValidation = true },
		rejected: "/auth-realm",
	},
	"another prefix": {
		given: `upstream-vhost: a.example`, options: func(o *options.Options) { o.AnnotationsPrefix = "example.com" },
		holds: func(s annotations.Set) bool { return s.UpstreamVhost == "" },
	},
}

func TestGates(t *testing.T) {
	for name, g := range gates {
		t.Run(name, g.check)
	}
}

func (g gate) check(t *testing.T) {
	opts := with(t, g.config)
	if g.options != nil {
		g.options(&opts)
	}
	set, findings, err := annotations.Parse(ingress(t, g.given), opts)
	if g.rejected != "" {
		if err == nil || !strings.Contains(err.Error(), g.rejected) {
			t.Errorf("error %v, want %q", err, g.rejected)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if g.denied == "" && set.Denied != nil {
		t.Errorf("denied: %s", *set.Denied)
	}
	if g.denied != "" && (set.Denied == nil || !strings.Contains(*set.Denied, g.denied)) {
		t.Errorf("not denied for %q", g.denied)
	}
	if g.finding != "" && (len(findings) == 0 || !strings.Contains(findings[0].Reason, g.finding)) {
		t.Errorf("findings %v, want %q", findings, g.finding)
	}
	if g.finding == "" && g.denied == "" && len(findings) > 0 {
		t.Errorf("findings %v", findings)
	}
	if g.holds != nil && !g.holds(set) {
		t.Errorf("set %+v", set)
	}
}

// Each key handles a value that no format accepts as its row specifies. Keys that accept any text
// are excluded.
func TestInvalidValuesFollowTheTable(t *testing.T) {
	const bad = "\x01;\n}"
	for _, family := range annotations.Families() {
		for _, key := range family.Keys {
			if key.Want.Text == annotations.Anything.Text {
				continue
			}
			in := ingress(t, "")
			for name, value := range enabling {
				in.Annotations[annotations.DefaultPrefix+"/"+name] = value
			}
			in.Annotations[annotations.DefaultPrefix+"/"+key.Name] = bad
			set, problems, err := annotations.Parse(in, with(t, ""))
			told := false
			for _, problem := range problems {
				told = told || strings.HasSuffix(problem.Key, "/"+key.Name) && strings.HasSuffix(problem.Reason, map[annotations.Bad]string{
					annotations.UsesDefault:   "; it is ignored",
					annotations.DropsItems:    "; no origin is allowed",
					annotations.AllowsNothing: "; it allows nothing",
					annotations.DeniesRequest: "; its requests get 503",
				}[key.Bad])
			}
			switch key.Bad {
			case annotations.RejectsAll:
				if err == nil || !strings.Contains(err.Error(), "/"+key.Name+":") {
					t.Errorf("%s: error %v, want a rejection", key.Name, err)
				}
			case annotations.DeniesRequest:
				if set.Denied == nil || !told {
					t.Errorf("%s: denied %v, problems %v", key.Name, set.Denied, problems)
				}
			default:
				if err != nil || set.Denied != nil || !told {
					t.Errorf("%s: error %v, denied %v, problems %v", key.Name, err, set.Denied, problems)
				}
			}
		}
	}
}
