package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"

	"windtunnel.dev/controller"
	"windtunnel.dev/controller/admission"
)

// admissionFlags configure the webhook that checks ingresses.
type admissionFlags struct {
	address   string
	cert, key string
	onlyNew   bool
}

func (f *flags) addAdmission() {
	s, o := f.set, &f.admission
	s.StringVar(&o.address, "validating-webhook", "", "address:port of the webhook that validates ingresses before they are stored; empty: no webhook")
	s.StringVar(&o.cert, "validating-webhook-certificate", "", "file with the webhook's certificate; reloaded when it changes")
	s.StringVar(&o.key, "validating-webhook-key", "", "file with the webhook's key")
	s.BoolVar(&o.onlyNew, "disable-full-test", false, "the webhook checks the new ingress alone, not the whole configuration")
}

func (o *admissionFlags) validate() error {
	if o.address == "" {
		return nil
	}
	if o.cert == "" || o.key == "" {
		return errors.New("--validating-webhook needs --validating-webhook-certificate and --validating-webhook-key")
	}
	if _, _, err := net.SplitHostPort(o.address); err != nil {
		return fmt.Errorf("--validating-webhook %s: %w", o.address, err)
	}
	return nil
}

// listen opens the webhook's port. It returns nil without a webhook.
func (o *admissionFlags) listen() (net.Listener, error) {
	if o.address == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", o.address)
	if err != nil {
		return nil, fmt.Errorf("--validating-webhook: %w", err)
	}
	return listener, nil
}

func (o *admissionFlags) config(listener net.Listener, log *slog.Logger) (*controller.Admission, error) {
	if listener == nil {
		return nil, nil
	}
	certificate, err := admission.Load(o.cert, o.key, log)
	if err != nil {
		return nil, fmt.Errorf("--validating-webhook-certificate, --validating-webhook-key: %w", err)
	}
	return &controller.Admission{Listener: listener, Certificate: certificate, OnlyNew: o.onlyNew}, nil
}
