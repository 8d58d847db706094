package quarantine

import (
	"cmp"
	"slices"
	"strings"
)

// cosmetic are the directives in snippets that neither widen nor restrict access: response headers,
// timeouts, sizes, compression, logs.
var cosmetic = words(`
	add_header add_trailer more_set_headers more_clear_headers expires etag charset default_type server_tokens
	gzip gzip_comp_level gzip_min_length gzip_types gzip_vary gzip_proxied gzip_buffers gzip_disable
	brotli brotli_comp_level brotli_types brotli_static sub_filter sub_filter_once sub_filter_types
	access_log error_log log_not_found log_subrequest rewrite_log
	client_max_body_size client_body_buffer_size client_body_timeout client_header_timeout send_timeout
	keepalive_timeout keepalive_requests reset_timedout_connection tcp_nodelay tcp_nopush sendfile output_buffers lingering_close
	proxy_connect_timeout proxy_read_timeout proxy_send_timeout proxy_buffering proxy_buffers proxy_buffer_size
	proxy_busy_buffers_size proxy_max_temp_file_size proxy_request_buffering proxy_http_version proxy_temp_file_write_size
	proxy_next_upstream_timeout proxy_next_upstream_tries worker_rlimit_core worker_priority timer_resolution pcre_jit
	server_names_hash_bucket_size server_names_hash_max_size map_hash_bucket_size map_hash_max_size variables_hash_bucket_size variables_hash_max_size`)

func words(text string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// snippetLacks reports whether an earlier snippet may protect less than the wanted one: the wanted
// one has protecting directives, and those of the earlier one differ in content or order. An
// unknown directive counts as protecting.
func snippetLacks(earlier, wanted string) bool {
	asked := protecting(wanted)
	return len(asked) > 0 && !slices.Equal(protecting(earlier), asked)
}

// forgotten are the names of access control directives. If one of them is a parameter of another
// directive, a semicolon may be missing. That is possible because nginx has rejected the text.
var forgotten = words("allow deny satisfy return if auth_basic auth_request auth_jwt limit_req limit_conn modsecurity ssl_verify_client internal")

// protecting returns the directives of a snippet that may protect, in order. A block counts as one
// directive, and so does a text that cannot be parsed.
func protecting(snippet string) []string {
	all, ok := directives(snippet)
	if !ok {
		return []string{snippet}
	}
	return slices.DeleteFunc(all, isCosmetic)
}

func isCosmetic(directive string) bool {
	text := strings.TrimSuffix(directive, ";")
	name, parameters, _ := strings.Cut(text, " ")
	missing := slices.ContainsFunc(strings.Fields(parameters), func(word string) bool { return forgotten[word] })
	return cosmetic[name] && !missing && !strings.Contains(text, "\n")
}

// directives splits a snippet into directives. A block with its content is one directive. Comments
// are removed. White space becomes a single space, or a line break if it contains one. ok is false
// if the text ends within a directive.
func directives(snippet string) (all []string, ok bool) {
	var one strings.Builder
	depth, space := 0, ""
	add := func(text string) {
		if one.Len() > 0 {
			one.WriteString(space)
		}
		space = ""
		one.WriteString(text)
	}
	for rest := snippet; rest != ""; {
		taken := 1
		switch c := rest[0]; c {
		case '\n':
			space = "\n"
		case ' ', '\t', '\r':
			space = cmp.Or(space, " ")
		case '#':
			if one.Len() > 0 && space == "" { // within a word
				add("#")
				break
			}
			taken = len(rest)
			if end := strings.IndexByte(rest, '\n'); end >= 0 {
				taken = end
			}
		case '"', '\'':
			end := quoted(rest)
			if end < 0 {
				return nil, false
			}
			taken = end
			add(rest[:end])
		case '$':
			if strings.HasPrefix(rest, "${") {
				taken = 2
			}
			if end := strings.IndexByte(rest, '}'); taken == 2 && end > 0 {
				taken = end + 1
			}
			add(rest[:taken])
		case '\\':
			taken = min(2, len(rest))
			add(rest[:taken])
		case '{':
			depth++
			add("{")
		case ';', '}':
			if c == '}' {
				depth--
			}
			add(string(c))
			if depth < 0 {
				return nil, false
			}
			if depth == 0 {
				all = append(all, one.String())
				one.Reset()
			}
		default:
			add(rest[:1])
		}
		rest = rest[taken:]
	}
	return all, one.Len() == 0 && depth == 0
}

// quoted returns the length of the quoted text at the start of text, or a negative number if the
// quotes are not closed.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return -1
}
