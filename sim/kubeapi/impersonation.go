package kubeapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"windtunnel.dev/sim/kubeapi/internal/accounts"
)

const (
	allUnauthenticated = "system:unauthenticated"
	anonymousUser      = "system:anonymous"
)

// impersonate returns the user that a request's headers impersonate, or nil without such headers. Every
// authenticated user may impersonate any other, because the server does no authorization. The rules
// about groups are those of kube-apiserver (pkg/endpoints/filters/impersonation).
func impersonate(header http.Header) (*authenticationv1.UserInfo, error) {
	name, groups, uid := header.Get(authenticationv1.ImpersonateUserHeader), header[authenticationv1.ImpersonateGroupHeader], header.Get(authenticationv1.ImpersonateUIDHeader)
	extra := extraOf(header)
	if name == "" {
		if len(groups) > 0 || uid != "" || len(extra) > 0 {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("requested &user.DefaultInfo{Name:\"\", UID:%q, Groups:%#v, Extra:%#v} without impersonating a user name",
				uid, groups, plainExtra(extra)))
		}
		return nil, nil
	}
	user := &authenticationv1.UserInfo{Username: name, UID: uid, Groups: slices.Clone(groups), Extra: extra}
	if namespace, account, ok := splitAccount(name); ok && len(groups) == 0 {
		user.Groups = accounts.UserOf(namespace, account).Groups
	}
	switch {
	case name == anonymousUser:
		if !slices.Contains(user.Groups, allUnauthenticated) {
			user.Groups = append(user.Groups, allUnauthenticated)
		}
	case !slices.Contains(user.Groups, allAuthenticated) && !slices.Contains(user.Groups, allUnauthenticated):
		user.Groups = append(user.Groups, allAuthenticated)
	}
	return user, nil
}

func extraOf(header http.Header) map[string]authenticationv1.ExtraValue {
	var extra map[string]authenticationv1.ExtraValue
	for name, values := range header {
		key, ok := strings.CutPrefix(name, authenticationv1.ImpersonateUserExtraHeaderPrefix)
		if !ok {
			continue
		}
		key = strings.ToLower(key)
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		if extra == nil {
			extra = map[string]authenticationv1.ExtraValue{}
		}
		extra[key] = append(extra[key], values...)
	}
	return extra
}

// plainExtra returns extra with the type that kube-apiserver prints in its message.
func plainExtra(extra map[string]authenticationv1.ExtraValue) (plain map[string][]string) {
	for key, values := range extra {
		if plain == nil {
			plain = map[string][]string{}
		}
		plain[key] = values
	}
	return plain
}

// splitAccount returns the service account that a user name stands for.
func splitAccount(name string) (namespace, account string, ok bool) {
	rest, ok := strings.CutPrefix(name, "system:serviceaccount:")
	if !ok {
		return "", "", false
	}
	namespace, account, ok = strings.Cut(rest, ":")
	return namespace, account, ok && namespace != "" && account != "" && !strings.Contains(account, ":")
}
