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
// one has protecting directives, and those of the earlier one differ in content or order. Unknown
// directives count as protecting.
func snippetLacks(earlier, wanted string) bool {
	asked := protecting(wanted)
	return len(asked) > 0 && !slices.Equal(protecting(earlier), asked)
}

// forgotten are the names of access control directives. If one of them is a parameter of another
// directive, a semicolon may be missing, because the text may be one that nginx rejected.
var forgotten = words("allow deny satisfy return if auth_basic auth_request auth_jwt limit_req limit_conn modsecurity ssl_verify_client internal")

// protecting returns the directives of a snippet that may protect, in order. A block counts as one
// directive, and so does text that cannot be parsed.
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
	for rest := snippet; rest != ""; {
		inWord := one.Len() > 0 && space == ""
		n := lengthOfToken(rest, inWord)
		if n < 0 {
			return nil, false
		}
		token := rest[:n]
		rest = rest[n:]
		switch c := token[0]; {
		case c == '\n':
			space = "\n"
			continue
		case strings.IndexByte(" \t\r", c) >= 0:
			space = cmp.Or(space, " ")
			continue
		case c == '#' && !inWord:
			continue
		}
		if one.Len() > 0 {
			one.WriteString(space)
		}
		space = ""
		one.WriteString(token)
		switch token {
		case "{":
			depth++
		case "}":
			depth--
		}
		if depth < 0 {
			return nil, false
		}
		if depth == 0 && (token == ";" || token == "}") {
			all = append(all, one.String())
			one.Reset()
		}
	}
	return all, one.Len() == 0 && depth == 0
}

// lengthOfToken returns the length of the token at the start of text: a comment, a quoted text,
// ${name}, a backslash with the byte that it escapes, or any other byte. It is negative if the
// quotes are not closed. Within a word, # does not begin a comment.
func lengthOfToken(text string, inWord bool) int {
	switch text[0] {
	case '#':
		if inWord {
			return 1
		}
		if end := strings.IndexByte(text, '\n'); end >= 0 {
			return end
		}
		return len(text)
	case '"', '\'':
		return quoted(text)
	case '$':
		if !strings.HasPrefix(text, "${") {
			return 1
		}
		return cmp.Or(strings.IndexByte(text, '}')+1, len("${"))
	case '\\':
		return min(2, len(text))
	}
	return 1
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
