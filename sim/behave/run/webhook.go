package run

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/webhook"
)

// webhookFlag is the flag with the address of the controller's webhook. Only the presence of an
// address in a case matters.
const webhookFlag = "validating-webhook"

// withWebhook completes the flags of a controller that has a webhook: with a free port of this
// machine, and the files of a new certificate, in dir. It returns the webhook's registration, or nil
// if the flags ask for none.
func withWebhook(flags map[string]string, dir string) (map[string]string, *admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	if flags[webhookFlag] == "" {
		return flags, nil, nil
	}
	number, err := port.Free(1)
	if err != nil {
		return nil, nil, err
	}
	hook := webhook.New(loopback)
	files := map[string]string{}
	for name, content := range map[string][]byte{"certificate": hook.Certificate, "key": hook.Key} {
		if files[name], err = filepath.Abs(filepath.Join(dir, "webhook-"+name+".pem")); err != nil {
			return nil, nil, err
		}
		if err := os.WriteFile(files[name], content, 0o600); err != nil {
			return nil, nil, err
		}
	}
	address := fmt.Sprintf("%s:%d", loopback, number)
	flags = maps.Clone(flags)
	flags[webhookFlag], flags[webhookFlag+"-certificate"], flags[webhookFlag+"-key"] = address, files["certificate"], files["key"]
	return flags, hook.Registration("https://" + address + "/networking/v1/ingresses"), nil
}
