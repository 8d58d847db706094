// Package deploy contains manifests: those that install the controller in a cluster, those of a Job
// that churns the cluster, and roles for users who run cases in it or observe it. It stands between
// kustomize's files, for `kubectl apply -k deploy/`, and Go programs that install the same objects.
// Its one rule: Build returns what kubectl would send.
package deploy

import (
	"embed"
	"fmt"
	"io/fs"
	"path"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Files contains the manifests, with paths relative to the deploy folder.
//
//go:embed *.yaml */*.yaml
var Files embed.FS

// Build returns the objects of a folder; "." is the default installation. over maps paths to files
// that are added to Files or replace them: an overlay is a kustomization.yaml in its own folder. An
// unknown field is an error.
func Build(folder string, over map[string]string) ([]runtime.Object, error) {
	tree, err := onto(filesys.MakeFsInMemory(), over)
	if err != nil {
		return nil, err
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy // kubectl's order: dependencies come first
	built, err := krusty.MakeKustomizer(options).Run(tree, path.Join("/", folder))
	if err != nil {
		return nil, fmt.Errorf("building the manifests of %s: %w", folder, err)
	}
	strict := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	var objects []runtime.Object
	for _, resource := range built.Resources() {
		text, err := resource.AsYAML()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", resource.CurId(), err)
		}
		object, _, err := strict.Decode(text, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", resource.CurId(), err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

func onto(tree filesys.FileSystem, over map[string]string) (filesys.FileSystem, error) {
	err := fs.WalkDir(Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := Files.ReadFile(name)
		if err != nil {
			return err
		}
		return tree.WriteFile(path.Join("/", name), text)
	})
	for name, text := range over {
		if err == nil {
			err = tree.WriteFile(path.Join("/", name), []byte(text))
		}
	}
	return tree, err
}
