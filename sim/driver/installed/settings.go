package installed

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"windtunnel.dev/sim/cluster"
)

// settings changes keys of the controller's ConfigMap, and gives them their former values back. It
// does not touch any other key, so that what others change meanwhile is kept.
type settings struct {
	client   kubernetes.Interface
	name     types.NamespacedName
	backup   *backup
	original map[string]string // the data before the first change
	touched  []string          // the keys that were changed, sorted
}

// openSettings reads the ConfigMap. It must exist.
func openSettings(ctx context.Context, client kubernetes.Interface, name types.NamespacedName, b *backup) (*settings, error) {
	found, err := client.CoreV1().ConfigMaps(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("there is no ConfigMap %s; create the one that the controller's flag --configmap names", name)
	}
	if err != nil {
		return nil, fmt.Errorf("get the ConfigMap %s: %w", name, err)
	}
	return &settings{client: client, name: name, backup: b, original: found.Data}, nil
}

// set gives the ConfigMap this data. It writes the backup first.
func (s *settings) set(ctx context.Context, data map[string]string) error {
	touched := slices.Clone(s.touched)
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if before, had := s.original[key]; !had || before != data[key] {
			touched = append(touched, key)
		}
	}
	for key := range s.original {
		if _, kept := data[key]; !kept {
			touched = append(touched, key)
		}
	}
	slices.Sort(touched)
	touched = slices.Compact(touched)
	if !slices.Equal(touched, s.touched) {
		if err := s.backup.write(ctx, s.client, s.name, s.original, touched); err != nil {
			return fmt.Errorf("keep the values of the ConfigMap %s: %w", s.name, err)
		}
		s.touched = touched
	}
	return s.write(ctx, data)
}

// restore sets the changed keys back to their former values.
func (s *settings) restore(ctx context.Context) error {
	if len(s.touched) == 0 {
		return nil
	}
	err := cluster.Retry(ctx, func(ctx context.Context) (bool, error) {
		err := s.write(ctx, s.original)
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("the ConfigMap %s was not restored: %w; the next run with --config-map restores its values, and %s has them", s.name, err, s.backup)
	}
	s.touched = nil
	return nil
}

// write sets the changed keys to their values in data.
func (s *settings) write(ctx context.Context, data map[string]string) error {
	api := s.client.CoreV1().ConfigMaps(s.name.Namespace)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		found, err := api.Get(ctx, s.name.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !s.change(found, data) {
			return nil
		}
		_, err = api.Update(ctx, found, metav1.UpdateOptions{})
		return err
	})
}

// change sets the changed keys of a ConfigMap to their values in data. It reports whether any of
// them had another value.
func (s *settings) change(of *corev1.ConfigMap, data map[string]string) bool {
	changed := false
	for _, key := range s.touched {
		now, has := of.Data[key]
		wanted, want := data[key]
		if has == want && now == wanted {
			continue
		}
		changed = true
		switch {
		case !want:
			delete(of.Data, key)
		case of.Data == nil:
			of.Data = map[string]string{key: wanted}
		default:
			of.Data[key] = wanted
		}
	}
	if len(of.Data) == 0 && s.original == nil {
		of.Data = nil
	}
	return changed
}

// backup is a ConfigMap in the run's own namespace, with what is needed to restore the controller's
// ConfigMap after the run was killed.
type backup struct {
	run string
}

const (
	backupName     = "controller-config"
	backupOf       = "configmap" // namespace/name
	backupOriginal = "original"  // JSON object: the data before the first change
	backupTouched  = "touched"   // JSON list: the keys that were changed
)

func (b *backup) String() string { return "ConfigMap " + homePrefix + b.run + "/" + backupName }

// write creates or replaces the backup.
func (b *backup) write(ctx context.Context, client kubernetes.Interface, of types.NamespacedName, original map[string]string, touched []string) error {
	originalJSON, err := json.Marshal(original)
	if err != nil {
		return err
	}
	touchedJSON, err := json.Marshal(touched)
	if err != nil {
		return err
	}
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: homePrefix + b.run, Name: backupName, Labels: labels(b.run)},
		Data:       map[string]string{backupOf: of.String(), backupOriginal: string(originalJSON), backupTouched: string(touchedJSON)},
	}
	backups := client.CoreV1().ConfigMaps(object.Namespace)
	_, err = backups.Update(ctx, object, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = backups.Create(ctx, object, metav1.CreateOptions{})
	}
	return err
}

// read returns the settings that a run was killed with, or nil if it had changed none.
func (b *backup) read(ctx context.Context, client kubernetes.Interface) (*settings, error) {
	found, err := client.CoreV1().ConfigMaps(homePrefix+b.run).Get(ctx, backupName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", b, err)
	}
	s := &settings{client: client, name: namespacedName(found.Data[backupOf]), backup: b}
	for key, into := range map[string]any{backupOriginal: &s.original, backupTouched: &s.touched} {
		if err := json.Unmarshal([]byte(found.Data[key]), into); err != nil {
			return nil, fmt.Errorf("read %s: %s: %w", b, key, err)
		}
	}
	return s, nil
}
