package annotations

// CorsConfig is cross-origin resource sharing.
type CorsConfig struct {
	CorsEnabled          bool
	CorsAllowOrigin      []string
	CorsAllowMethods     string
	CorsAllowHeaders     string
	CorsAllowCredentials bool
	CorsExposeHeaders    string
	CorsMaxAge           int // seconds
}
