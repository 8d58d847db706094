package store

import (
	"slices"
)

// labelIndex holds the labels of an object as a sorted list. A map would take several times the
// memory, and would be no faster for a few labels.
type labelIndex []label

type label struct{ key, value string }

func indexLabels(labels map[string]string) labelIndex {
	if len(labels) == 0 {
		return nil
	}
	index := make(labelIndex, 0, len(labels))
	for key, value := range labels {
		index = append(index, label{key, value})
	}
	slices.SortFunc(index, func(a, b label) int {
		if a.key < b.key {
			return -1
		}
		return 1 // keys are unique
	})
	return index
}

func (l labelIndex) Lookup(key string) (string, bool) {
	for i := range l {
		if l[i].key == key {
			return l[i].value, true
		}
	}
	return "", false
}

func (l labelIndex) Has(key string) bool {
	_, ok := l.Lookup(key)
	return ok
}

func (l labelIndex) Get(key string) string {
	value, _ := l.Lookup(key)
	return value
}
