// Package drivertest has the tests that every driver must pass. They check the contract of the
// driver interface. Its one rule: it knows nothing about particular drivers.
package drivertest

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/subject"
)

// patience is the time limit of each start and stop.
const patience = time.Minute

// Run runs the tests. The driver starts and stops subjects with the bundled controller.
func Run(t *testing.T, d driver.Driver) {
	t.Run("life", func(t *testing.T) { checkLifecycle(t, d) })
	t.Run("two at once", func(t *testing.T) { twoAtOnce(t, d) })
	t.Run("a subject that cannot start", func(t *testing.T) { cannotStart(t, d) })
	t.Run("a killed controller", func(t *testing.T) { killed(t, d) })
	t.Run("faults of the API server", func(t *testing.T) { ofAPI(t, d) })
	t.Run("faults of nginx's files and network", func(t *testing.T) { ofNginx(t, d) })
	t.Run("stop before launch", func(t *testing.T) {
		if err := prepare(t, d, 0, nil).Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func prepare(t *testing.T, d driver.Driver, index int, flags map[string]string) driver.Instance {
	t.Helper()
	instance, err := d.Prepare(t.Context(), subject.Subject{
		Name:       "subject-" + strconv.Itoa(index),
		Controller: subject.Bundled,
		Flags:      flags,
		Config:     map[string]string{"worker-processes": "2"},
	}, driver.Options{Index: index, Dir: t.TempDir(), Log: event.NewLog(&bytes.Buffer{}, time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { instance.Stop(context.Background()) })
	return instance
}

func launch(t *testing.T, instance driver.Instance) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := instance.Launch(ctx); err != nil {
		t.Fatal(err)
	}
}

func stop(t *testing.T, instance driver.Instance) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := instance.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// checkLifecycle checks one subject: its API answers before the launch, its nginx after it, and
// nothing remains after its stop.
func checkLifecycle(t *testing.T, d driver.Driver) {
	instance := prepare(t, d, 0, nil)
	client, err := kubernetes.NewForConfig(instance.API())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Errorf("the API before launch: %v", err)
	}
	pod, err := instance.Pods().Start("demo/a", "demo/web")
	if err != nil {
		t.Fatal(err)
	}
	if err := pod.Ready(); err != nil {
		t.Fatal(err)
	}
	launch(t, instance)

	awaitStatus(t, "http://"+instance.Address().String(), http.StatusNotFound) // the cluster is empty
	master, err := instance.Master()
	if err != nil {
		t.Fatal(err)
	}
	controller := instance.Controller()
	for what, pid := range map[string]int{"nginx": master, "the controller": controller} {
		if !alive(instance, pid) {
			t.Errorf("%s should be process %d, which does not exist", what, pid)
		}
	}
	stop(t, instance)
	for what, pid := range map[string]int{"nginx": master, "the controller": controller} {
		if alive(instance, pid) {
			t.Errorf("%s, process %d, still runs after the stop", what, pid)
		}
	}
	select {
	case <-instance.Died():
	default:
		t.Error("Died is open after the stop")
	}
	select {
	case <-pod.Done():
	default:
		t.Error("a pod still runs after the stop")
	}
}

// awaitStatus repeats a request until it gets the status, because nginx's workers learn about their
// backends shortly after the controller is healthy.
func awaitStatus(t *testing.T, url string, want int) {
	t.Helper()
	var last string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		response, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode == want {
			return
		}
		last = response.Status
	}
	t.Errorf("%s: got %s, want %d", url, last, want)
}

func twoAtOnce(t *testing.T, d driver.Driver) {
	one, other := prepare(t, d, 0, nil), prepare(t, d, 1, nil)
	launch(t, one)
	launch(t, other)
	if one.Address() == other.Address() {
		t.Errorf("both subjects serve at %v", one.Address())
	}
	master, err := other.Master()
	if err != nil {
		t.Fatal(err)
	}
	stop(t, one)
	if !alive(other, master) {
		t.Error("stopping one subject has ended the nginx of the other")
	}
	stop(t, other)
}

func cannotStart(t *testing.T, d driver.Driver) {
	instance := prepare(t, d, 0, map[string]string{"no-such-flag": "1"})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := instance.Launch(ctx)
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("no-such-flag")) {
		t.Errorf("Launch = %v, want the controller's own error about the flag", err)
	}
	stop(t, instance)
}

// killed checks that a controller that was killed ends, and serves again after Revive.
func killed(t *testing.T, d driver.Driver) {
	instance := prepare(t, d, 0, nil)
	launch(t, instance)
	before, died := instance.Controller(), instance.Died()
	if err := instance.Signal(before, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case <-died:
	case <-ctx.Done():
		t.Fatal("Died is open after the controller was killed")
	}
	if instance.Err() == nil {
		t.Error("a killed controller has no error")
	}
	if err := instance.Revive(ctx); err != nil {
		t.Fatal(err)
	}
	if err := instance.Healthy(ctx); err != nil {
		t.Error("after Revive: ", err)
	}
	if again := instance.Controller(); again == before || !alive(instance, again) {
		t.Errorf("the controller is process %d after Revive, and was %d", again, before)
	}
	select {
	case <-instance.Died():
		t.Error("Died is closed after Revive")
	default:
	}
	stop(t, instance)
}

func alive(instance driver.Instance, pid int) bool { return instance.Signal(pid, 0) == nil }
