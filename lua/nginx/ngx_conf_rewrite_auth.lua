-- rewrite_by_lua of an external authentication: the key of its cache. Hashed,
-- as what goes into it (a cookie, an Authorization header) is nobody's business.
ngx.var.cache_key = ngx.encode_base64(ngx.sha1_bin(ngx.var.tmp_cache_key))
