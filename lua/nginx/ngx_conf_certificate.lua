-- ssl_certificate_by_lua of a server: the certificate of the host in the handshake.
certificate.call()
