package annotations

// ExternalAuth asks another service about each request.
type ExternalAuth struct {
	URL                    string
	Host                   string // of URL
	SigninURL              string
	SigninURLRedirectParam string
	Method                 string
	ResponseHeaders        []string
	RequestRedirect        string
	AuthSnippet            string
	AuthCacheKey           string
	AuthCacheDuration      []string
	ProxySetHeaders        map[string]string // of the ConfigMap ProxySetHeadersMap
	ProxySetHeadersMap     string            // namespace/name
	AlwaysSetCookie        bool
	KeepaliveConnections   int
	KeepaliveShareVars     bool
	KeepaliveRequests      int
	KeepaliveTimeout       int // seconds
	EnableGlobalAuth       bool
}
