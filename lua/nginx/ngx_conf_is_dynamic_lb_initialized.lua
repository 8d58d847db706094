-- content_by_lua of /is-dynamic-lb-initialized: 200 once backends were POSTed. It does not parse
-- them: many backends with deltas would block the worker at every probe.
if not ngx.shared.configuration_data:ttl("backends") then
  return ngx.exit(ngx.HTTP_INTERNAL_SERVER_ERROR)
end

ngx.say("OK")
