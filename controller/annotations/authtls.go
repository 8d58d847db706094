package annotations

// AuthTLS is how clients show certificates.
type AuthTLS struct {
	Secret             string // namespace/name of the CA's Secret; empty: no certificate is asked for
	VerifyClient       string // on, off, optional, optional_no_ca
	ValidationDepth    int
	ErrorPage          string
	PassCertToUpstream bool
	MatchCN            string
}
