-- ssl_certificate_by_lua of a server: chooses the certificate of the handshake.
certificate.call()
