-- rewrite_by_lua of external authentication: sets its cache key. The key is hashed because it
-- contains secrets, such as a cookie or an Authorization header.
ngx.var.cache_key = ngx.encode_base64(ngx.sha1_bin(ngx.var.tmp_cache_key))
