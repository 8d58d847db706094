package options

import (
	"regexp"
	"slices"
	"strings"
)

// opensslCiphers are the names of cipher groups and single ciphers for which OpenSSL 3 has ciphers,
// up to TLS 1.2 and at its default security level.
var opensslCiphers = words(`ALL HIGH DEFAULT FIPS kRSA aRSA RSA kDHE kEDH DHE EDH kECDHE kEECDH ECDHE EECDH aECDSA ECDSA AES128 AES256 AES AESGCM AESCCM
	AESCCM8 CHACHA20 CAMELLIA CAMELLIA128 CAMELLIA256 ARIA ARIA128 ARIA256 SHA SHA1 SHA256 SHA384 TLSv1 TLSv1.0 TLSv1.2 SSLv3 CBC
	SUITEB128 SUITEB128ONLY SUITEB192
	AES128-CCM AES128-CCM8 AES128-GCM-SHA256 AES128-SHA AES128-SHA256 AES256-CCM AES256-CCM8 AES256-GCM-SHA384 AES256-SHA
	AES256-SHA256 ARIA128-GCM-SHA256 ARIA256-GCM-SHA384 CAMELLIA128-SHA CAMELLIA128-SHA256 CAMELLIA256-SHA CAMELLIA256-SHA256
	DHE-DSS-AES128-GCM-SHA256 DHE-DSS-AES128-SHA DHE-DSS-AES128-SHA256 DHE-DSS-AES256-GCM-SHA384 DHE-DSS-AES256-SHA
	DHE-DSS-AES256-SHA256 DHE-DSS-ARIA128-GCM-SHA256 DHE-DSS-ARIA256-GCM-SHA384 DHE-DSS-CAMELLIA128-SHA DHE-DSS-CAMELLIA128-SHA256
	DHE-DSS-CAMELLIA256-SHA DHE-DSS-CAMELLIA256-SHA256 DHE-RSA-AES128-CCM DHE-RSA-AES128-CCM8 DHE-RSA-AES128-GCM-SHA256
	DHE-RSA-AES128-SHA DHE-RSA-AES128-SHA256 DHE-RSA-AES256-CCM DHE-RSA-AES256-CCM8 DHE-RSA-AES256-GCM-SHA384 DHE-RSA-AES256-SHA
	DHE-RSA-AES256-SHA256 DHE-RSA-ARIA128-GCM-SHA256 DHE-RSA-ARIA256-GCM-SHA384 DHE-RSA-CAMELLIA128-SHA DHE-RSA-CAMELLIA128-SHA256
	DHE-RSA-CAMELLIA256-SHA DHE-RSA-CAMELLIA256-SHA256 DHE-RSA-CHACHA20-POLY1305 ECDHE-ARIA128-GCM-SHA256 ECDHE-ARIA256-GCM-SHA384
	ECDHE-ECDSA-AES128-CCM ECDHE-ECDSA-AES128-CCM8 ECDHE-ECDSA-AES128-GCM-SHA256 ECDHE-ECDSA-AES128-SHA ECDHE-ECDSA-AES128-SHA256
	ECDHE-ECDSA-AES256-CCM ECDHE-ECDSA-AES256-CCM8 ECDHE-ECDSA-AES256-GCM-SHA384 ECDHE-ECDSA-AES256-SHA ECDHE-ECDSA-AES256-SHA384
	ECDHE-ECDSA-ARIA128-GCM-SHA256 ECDHE-ECDSA-ARIA256-GCM-SHA384 ECDHE-ECDSA-CAMELLIA128-SHA256 ECDHE-ECDSA-CAMELLIA256-SHA384
	ECDHE-ECDSA-CHACHA20-POLY1305 ECDHE-RSA-AES128-GCM-SHA256 ECDHE-RSA-AES128-SHA ECDHE-RSA-AES128-SHA256 ECDHE-RSA-AES256-GCM-SHA384
	ECDHE-RSA-AES256-SHA ECDHE-RSA-AES256-SHA384 ECDHE-RSA-CAMELLIA128-SHA256 ECDHE-RSA-CAMELLIA256-SHA384 ECDHE-RSA-CHACHA20-POLY1305`)

// oneCipher matches a word of a cipher list that OpenSSL can parse (openssl-ciphers). A sign
// without a name is an error for OpenSSL.
var oneCipher = regexp.MustCompile(`^(?:@STRENGTH|@SECLEVEL=[0-5]|[!+-]?[A-Za-z0-9][A-Za-z0-9+_.=-]*)$`)

// KnowsCiphers reports whether OpenSSL finds a cipher for a list. OpenSSL skips unknown words but
// rejects a list without any cipher; nginx then rejects its whole configuration.
func KnowsCiphers(list string) bool {
	found := false
	for _, word := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(":, ;", r) }) {
		switch {
		case !oneCipher.MatchString(word):
			return false
		case strings.HasPrefix(word, "!"), strings.HasPrefix(word, "-"):
			if slices.Contains([]string{"ALL", "DEFAULT", "HIGH"}, word[1:]) {
				return false // it is hard to determine what remains
			}
		case word[0] == '+': // it only moves ciphers to the end
		case opensslCiphers[word], strings.Contains(word, "+") && haveCommonCipher(strings.Split(word, "+")):
			found = true
		}
	}
	return found
}

// traits map patterns of cipher names to the groups of these ciphers, besides ALL and HIGH.
var traits = []struct {
	of     *regexp.Regexp
	groups []string
}{
	{regexp.MustCompile(`^ECDHE-`), strings.Fields("kECDHE kEECDH ECDHE EECDH")},
	{regexp.MustCompile(`^DHE-`), strings.Fields("kDHE kEDH DHE EDH")},
	{regexp.MustCompile(`^(?:AES|ARIA|CAMELLIA)`), strings.Fields("kRSA RSA")},
	{regexp.MustCompile(`^ECDHE-ECDSA-`), strings.Fields("aECDSA ECDSA")},
	{regexp.MustCompile(`^(?:ECDHE-RSA-|ECDHE-ARIA|DHE-RSA-|AES|ARIA|CAMELLIA)`), []string{"aRSA"}},
	{regexp.MustCompile(`AES`), []string{"AES"}},
	{regexp.MustCompile(`AES128`), []string{"AES128"}},
	{regexp.MustCompile(`AES256`), []string{"AES256"}},
	{regexp.MustCompile(`AES...-GCM`), []string{"AESGCM"}},
	{regexp.MustCompile(`CCM`), []string{"AESCCM"}},
	{regexp.MustCompile(`CCM8`), []string{"AESCCM8"}},
	{regexp.MustCompile(`CHACHA20`), []string{"CHACHA20"}},
	{regexp.MustCompile(`CAMELLIA`), []string{"CAMELLIA"}},
	{regexp.MustCompile(`CAMELLIA128`), []string{"CAMELLIA128"}},
	{regexp.MustCompile(`CAMELLIA256`), []string{"CAMELLIA256"}},
	{regexp.MustCompile(`ARIA`), []string{"ARIA"}},
	{regexp.MustCompile(`ARIA128`), []string{"ARIA128"}},
	{regexp.MustCompile(`ARIA256`), []string{"ARIA256"}},
	{regexp.MustCompile(`-SHA$`), strings.Fields("SHA SHA1")},
	{regexp.MustCompile(`\d-SHA256$`), []string{"SHA256"}},
	{regexp.MustCompile(`\d-SHA384$`), []string{"SHA384"}},
	{regexp.MustCompile(`\d-SHA(?:256|384)?$`), []string{"CBC"}},
	{regexp.MustCompile(`GCM|CCM|CHACHA20|SHA256$|SHA384$`), []string{"TLSv1.2"}},
	{regexp.MustCompile(`^ECDHE-.*-SHA$`), strings.Fields("TLSv1 TLSv1.0")},
	{regexp.MustCompile(`^(?:DHE-|AES|CAMELLIA).*-SHA$`), []string{"SSLv3"}},
}

// groupsOf maps each cipher to its groups.
var groupsOf = func() map[string][]string {
	all := make(map[string][]string)
	for name := range opensslCiphers {
		if !strings.Contains(name, "-") {
			continue // a group
		}
		groups := []string{"ALL", "HIGH"}
		for _, trait := range traits {
			if trait.of.MatchString(name) {
				groups = append(groups, trait.groups...)
			}
		}
		all[name] = groups
	}
	return all
}()

// haveCommonCipher reports whether a cipher belongs to all groups.
func haveCommonCipher(groups []string) bool {
	slices.Sort(groups)
	groups = slices.Compact(groups) // a long list of one group costs no more than the group
	for _, its := range groupsOf {
		if !slices.ContainsFunc(groups, func(group string) bool { return !slices.Contains(its, group) }) {
			return true
		}
	}
	return false
}
