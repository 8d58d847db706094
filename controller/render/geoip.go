package render

import "strings"

// geoDatabase is a GeoIP database file and the variables that it provides.
type geoDatabase struct {
	File      string
	Variables []geoVariable
}

type geoVariable struct {
	Name, Default, Lookup string
}

// geoVariables maps the kind of a database, the part of its name after GeoIP2- or GeoLite2-, to the
// variables.
var geoVariables = map[string][]geoVariable{
	"Country": {
		{"$geoip2_country_code", "", "country iso_code"},
		{"$geoip2_country_name", "", "country names en"},
		{"$geoip2_continent_code", "", "continent code"},
	},
	"City": {
		{"$geoip2_city_country_code", "", "country iso_code"},
		{"$geoip2_city_country_name", "", "country names en"},
		{"$geoip2_city_continent_code", "", "continent code"},
		{"$geoip2_city", "", "city names en"},
		{"$geoip2_postal_code", "", "postal code"},
		{"$geoip2_dma_code", "", "location metro_code"},
		{"$geoip2_latitude", "", "location latitude"},
		{"$geoip2_longitude", "", "location longitude"},
		{"$geoip2_time_zone", "", "location time_zone"},
		{"$geoip2_region_code", "", "subdivisions 0 iso_code"},
		{"$geoip2_region_name", "", "subdivisions 0 names en"},
	},
	"ASN": {
		{"$geoip2_asn", "", "autonomous_system_number"},
		{"$geoip2_org", "", "autonomous_system_organization"},
	},
	"ISP": {
		{"$geoip2_isp", "", "isp"},
		{"$geoip2_isp_org", "", "organization"},
		{"$geoip2_isp_asn", "", "autonomous_system_number"},
	},
	"Connection-Type": {{"$geoip2_connection_type", "", "connection_type"}},
	"Anonymous-IP": {
		{"$geoip2_is_anon", "0", "is_anonymous"},
		{"$geoip2_is_anonymous_vpn", "0", "is_anonymous_vpn"},
		{"$geoip2_is_hosting_provider", "0", "is_hosting_provider"},
		{"$geoip2_is_public_proxy", "0", "is_public_proxy"},
		{"$geoip2_is_tor_exit_node", "0", "is_tor_exit_node"},
	},
}

// GeoIP returns the available databases of known kinds. Two of one kind would define the same
// variables, so only the first is used.
func (r *root) GeoIP() []geoDatabase {
	var found []geoDatabase
	taken := make(map[string]bool)
	for _, file := range r.in.GeoIPFiles {
		_, kind, _ := strings.Cut(strings.TrimSuffix(file, ".mmdb"), "-")
		if variables := geoVariables[kind]; variables != nil && !taken[kind] {
			taken[kind] = true
			found = append(found, geoDatabase{file, variables})
		}
	}
	return found
}
