package options_test

import (
	"testing"

	"windtunnel.dev/controller/options"
)

func TestPatterns(t *testing.T) {
	for pattern, ok := range map[string]bool{
		`/a(/|$)(.*)`: true, `/(?!b)c`: true, `/(?<=a)b`: true, `/(?<=a+)b`: false, `/(a)\1`: true, `/(a)\2`: false, `/a\1`: false,
		`/a++`: true, `/a{2,3}+b`: true, `/a++?`: false, `/a**`: false, `/(`: false, `/[`: false, `/[]a]`: true, `/[^]a]`: true, `/[a\]]`: true,
		`/(?<name>a)`: true, `/(?<host>a)`: false, `/(?<n>a)(?<n>b)`: false, `/(?<1n>a)`: false, `/\x{100}`: false, `/\xFF`: true,
		`/[[:alpha:]]`: true, `/[[:no:]]`: false, `/[[.a.]]`: false, `/^+`: false, `/\b*`: false, `/\h\R`: true, `/\Q(\E`: true, `/a{2,1}`: false,
		`(?i)b`: true, `(?i)*`: false, `/a(?i)*b`: false, `/a(?-i)+`: false, `/a(?#b)`: false, `(*ANY)a`: false, `/a\K`: false,
	} {
		if err := options.BadPattern(pattern); (err == nil) != ok {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

func TestCiphers(t *testing.T) {
	for list, ok := range map[string]bool{
		"HIGH:!aNULL:!MD5": true, "ECDHE-RSA-AES128-GCM-SHA256": true, "no such": false, "no-such:AES256": true, "!ALL": false, "": false, "@SECLEVEL=1": false,
		"HIGH:!": false, "HIGH:+": false, "HIGH:@SECLEVEL=0": true, "(?#a)": false, "HIGH:@x": false,
		"EECDH+AESGCM:EDH+AESGCM": true, "ECDHE+aECDSA+AES256+CBC": true, "EECDH+EDH": false, "AESGCM+CHACHA20": false, "EECDH+none": false,
		"+EECDH+AESGCM": false, "!EECDH+AESGCM": false, "RSA+AES+AES+AES": true,
	} {
		if options.KnowsCiphers(list) != ok {
			t.Errorf("ciphers %q: %v", list, !ok)
		}
	}
}
