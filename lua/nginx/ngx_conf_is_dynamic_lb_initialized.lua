-- content_by_lua of /is-dynamic-lb-initialized: 200 once backends were POSTed.
if not configuration.get_backends_data() then
  return ngx.exit(ngx.HTTP_INTERNAL_SERVER_ERROR)
end

ngx.say("OK")
