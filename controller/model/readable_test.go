package model

import "testing"

func TestVariablesThatNginxDoesNotHaveAreText(t *testing.T) {
	for text, want := range map[string]string{
		"no variable":           "no variable",
		"$host/${request_uri}x": "$host/${request_uri}x",
		"$1 $10":                "$1 $10",
		"$http_x_a $arg_b":      "$http_x_a $arg_b",
		"$http_":                "${literal_dollar}http_",
		"$x":                    "${literal_dollar}x",
		"${x}":                  "${literal_dollar}{x}",
		"${host":                "${literal_dollar}{host",
		"${ho st}":              "${literal_dollar}{ho st}",
		"$":                     "${literal_dollar}",
		"$$host":                "${literal_dollar}$host",
		"$0":                    "${literal_dollar}0",
		"$mine":                 "$mine",
		"$hosts":                "${literal_dollar}hosts",
	} {
		if got, _ := withKnownVariables(text, map[string]bool{"mine": true}); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestPatterns(t *testing.T) {
	for pattern, ok := range map[string]bool{
		`/a(/|$)(.*)`: true, `/(?!b)c`: true, `/(?<=a)b`: true, `/(?<=a+)b`: false, `/(a)\1`: true, `/(a)\2`: false, `/a\1`: false,
		`/a++`: true, `/a{2,3}+b`: true, `/a++?`: false, `/a**`: false, `/(`: false, `/[`: false, `/[]a]`: true, `/[^]a]`: true, `/[a\]]`: true,
		`/(?<name>a)`: true, `/(?<host>a)`: false, `/(?<n>a)(?<n>b)`: false, `/(?<1n>a)`: false, `/\x{100}`: false, `/\xFF`: true,
		`/[[:alpha:]]`: true, `/[[:no:]]`: false, `/[[.a.]]`: false, `/^+`: false, `/\b*`: false, `/\h\R`: true, `/\Q(\E`: true, `/a{2,1}`: false,
	} {
		if err := badPattern(pattern); (err == nil) != ok {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	for name, ok := range map[string]bool{
		"a.example": true, "*.a.example": true, ".a.example": true, "www.*": true, "~^www\\d\\.a$": true, "localhost": true,
		"*": false, "*a": false, "a*b": false, "a.*.b": false, "~": false, "~(": false, "a..b": false, ".": false, "*.a.*": false,
	} {
		if err := badServerName(name); (err == nil) != ok {
			t.Errorf("server name %s: %v", name, err)
		}
	}
	for list, ok := range map[string]bool{
		"HIGH:!aNULL:!MD5": true, "ECDHE-RSA-AES128-GCM-SHA256": true, "no such": false, "no-such:AES256": true, "!ALL": false, "": false, "@SECLEVEL=1": false,
	} {
		if knowsCiphers(list) != ok {
			t.Errorf("ciphers %q: %v", list, !ok)
		}
	}
}
