package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Translation returns the objects that a client writes in place of an object.
type Translation func(*unstructured.Unstructured) ([]*unstructured.Unstructured, error)

// translated is a translation, with the objects that it has written.
type translated struct {
	translate Translation

	mu      sync.Mutex
	written map[string][]*unstructured.Unstructured // by the Name of the translated object
}

// Translated returns a client that writes the translation of each object. A translation that no longer
// contains an object deletes it.
func (c *Client) Translated(t Translation) *Client {
	client := *c
	client.translated = &translated{translate: t, written: map[string][]*unstructured.Unstructured{}}
	return &client
}

// exchange returns the translation of an object, and the objects of its previous translation that are no
// longer part of it. The latter count as written until the caller calls wrote.
func (t *translated) exchange(object *unstructured.Unstructured) (all, left []*unstructured.Unstructured, err error) {
	if all, err = t.translate(object); err != nil {
		return nil, nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, before := range t.written[Name(object)] {
		if !slices.ContainsFunc(all, func(now *unstructured.Unstructured) bool { return Name(now) == Name(before) }) {
			left = append(left, before)
		}
	}
	t.written[Name(object)] = slices.Concat(all, left)
	return all, left, nil
}

// wrote records that only this translation of an object is left.
func (t *translated) wrote(object *unstructured.Unstructured, all []*unstructured.Unstructured) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written[Name(object)] = all
}

// forget returns the last translation of an object that is deleted.
func (t *translated) forget(object *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if all, known := t.written[Name(object)]; known {
		delete(t.written, Name(object))
		return all, nil
	}
	return t.translate(object)
}

// putTranslated writes the translation of an object. It returns the resourceVersion of the last write.
func (c *Client) putTranslated(ctx context.Context, object *unstructured.Unstructured) (version string, err error) {
	all, left, err := c.translated.exchange(object)
	if err != nil {
		return "", err
	}
	for _, one := range all {
		if version, err = c.put(ctx, one); err != nil {
			return "", err
		}
	}
	for _, one := range left {
		if err := c.delete(ctx, one); err != nil && !apierrors.IsNotFound(err) {
			return "", err
		}
	}
	c.translated.wrote(object, all)
	return version, nil
}

// deleteTranslated deletes the translation of an object. It returns an error if a part of it does not
// exist, but deletes the rest.
func (c *Client) deleteTranslated(ctx context.Context, object *unstructured.Unstructured) error {
	all, err := c.translated.forget(object)
	if err != nil {
		return err
	}
	var missing []error
	for _, one := range slices.Backward(all) {
		err := c.delete(ctx, one)
		if apierrors.IsNotFound(err) {
			missing = append(missing, err)
		} else if err != nil {
			return err
		}
	}
	return errors.Join(missing...)
}

// translateAll returns the translations of objects.
func (c *Client) translateAll(objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if c.translated == nil {
		return objects, nil
	}
	var all []*unstructured.Unstructured
	for _, object := range objects {
		instead, _, err := c.translated.exchange(object)
		if err != nil {
			return nil, err
		}
		all = append(all, instead...)
	}
	return all, nil
}
