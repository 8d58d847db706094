package render

// awaited are keys of the ConfigMap that package options does not have yet.
// Each vanishes from view as soon as options.Config has it.
type awaited struct{ keys }

type keys struct {
	AddHeaders, ProxySetHeaders                                                      string
	EnableModsecurity, EnableOWASPCoreRules                                          bool
	ModsecuritySnippet                                                               string
	EnableOpentelemetry, OpentelemetryTrustIncomingSpan                              bool
	OpentelemetryOperationName, OpentelemetryConfig                                  string
	GlobalAuthURL, GlobalAuthMethod, GlobalAuthSignin, GlobalAuthSigninRedirectParam string
	GlobalAuthRequestRedirect, GlobalAuthSnippet, GlobalAuthCacheKey                 string
	GlobalAuthResponseHeaders, GlobalAuthCacheDuration                               []string
	GlobalAuthAlwaysSetCookie                                                        bool
	NoAuthLocations                                                                  []string
	EnableAioWrite, EnableAuthAccessLog, EnableBrotli, EnableSyslog                  bool
	BrotliLevel, BrotliMinLength                                                     int
	BrotliTypes                                                                      string
	SyslogHost                                                                       string
	SyslogPort                                                                       int
	UseGeoIP2                                                                        bool
	GeoIP2AutoReloadMinutes                                                          int
	GRPCBufferSizeKb                                                                 int
	HTTP2MaxFieldSize, HTTP2MaxHeaderSize                                            string
	HTTP2MaxRequests                                                                 int
	LimitReqStatusCode, LimitConnStatusCode                                          int
	LimitConnZoneVariable                                                            string
	BlockCIDRs, BlockUserAgents, BlockReferers, DebugConnections                     []string
	CustomHTTPErrors                                                                 []int
	DisableProxyInterceptErrors, RelativeRedirects                                   bool
	ForwardedForProxyProtocolHeader, ForwardedHostHeader                             string
	SSLDHParam, SSLSessionTicketKey                                                  string
	SSLEarlyData, SSLRejectHandshake                                                 bool
	ProxyProtocolHeaderTimeout                                                       string
}
