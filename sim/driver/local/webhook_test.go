package local

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/subject"
)

// The webhook of a controller reviews ingresses, and the log has the reviews. An isolated fork finds the
// files of the webhook as well.
func TestWebhook(t *testing.T) {
	for name, d := range map[string]Driver{"bundled": {Bundled: build(t)}, "fork": {Bundled: fork(t)}} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			events := event.NewLog(&log, time.Now())
			instance, err := d.Prepare(t.Context(), subject.Subject{Name: "ours", Controller: subject.Bundled, Webhook: true},
				driver.Options{Dir: t.TempDir(), Log: events})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { instance.Stop(context.Background()) })
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := instance.Launch(ctx); err != nil {
				t.Fatal(err)
			}
			client, err := kubernetes.NewForConfig(instance.API())
			if err != nil {
				t.Fatal(err)
			}
			create := func(name string, annotations map[string]string) error {
				class := "nginx"
				_, err := client.NetworkingV1().Ingresses("default").Create(ctx, &networkingv1.Ingress{
					ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations},
					Spec: networkingv1.IngressSpec{IngressClassName: &class, DefaultBackend: &networkingv1.IngressBackend{
						Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}}},
				}, metav1.CreateOptions{})
				return err
			}
			if _, err := client.NetworkingV1().IngressClasses().Create(ctx, &networkingv1.IngressClass{
				ObjectMeta: metav1.ObjectMeta{Name: "nginx"}, Spec: networkingv1.IngressClassSpec{Controller: instance.Setup().IngressClass.Controller},
			}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := create("good", nil); err != nil {
				t.Errorf("the webhook denies a good ingress: %v", err)
			}
			// A controller that has not seen the class yet allows what it does not serve.
			for ctx.Err() == nil {
				err = create("bad", map[string]string{"nginx.ingress.kubernetes.io/server-snippet": "a"})
				if err != nil {
					break
				}
				if err := client.NetworkingV1().Ingresses("default").Delete(ctx, "bad", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if err == nil || !strings.Contains(err.Error(), "denied the request") {
				t.Errorf("the webhook allows a snippet: %v", err)
			}
			if err := errors.Join(instance.Stop(ctx), events.Close()); err != nil {
				t.Fatal(err)
			}
			allowed, denied := 0, 0
			for e, err := range event.Read(&log) {
				switch {
				case err != nil:
					t.Fatal(err)
				case e.Review == nil:
				case e.Review.Allowed:
					allowed++
				default:
					denied++
				}
			}
			if allowed == 0 || denied != 1 {
				t.Errorf("%d reviews allow an ingress, and %d deny one", allowed, denied)
			}
		})
	}
}
