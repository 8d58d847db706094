package rootfs_test

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/moby/go-archive"

	"windtunnel.dev/internal/forktest"
	"windtunnel.dev/internal/rootfs"
)

// image returns a small image with a program and users.
func image(t *testing.T, architecture string, set func(*v1.Config)) v1.Image {
	t.Helper()
	root := t.TempDir()
	for path, text := range map[string]string{
		"bin/program": "#!/bin/sh\n", "etc/passwd": "www-data:x:101:82::/:/bin/false\n", "etc/group": "more:x:7:www-data\n", "etc/hosts": "of the image",
	} {
		write(t, filepath.Join(root, path), text)
	}
	if err := os.Symlink("/no/such/folder/of/this/machine", filepath.Join(root, "absolute")); err != nil {
		t.Fatal(err)
	}
	return forktest.Image(t, root, architecture, set)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func usual(c *v1.Config) {
	c.Entrypoint, c.Cmd, c.User = []string{"program"}, []string{"--always"}, "www-data"
	c.Env, c.Labels = []string{"PATH=/sbin:/bin", "A=b"}, map[string]string{"l": "m"}
}

// saved writes images as docker save does.
func saved(t *testing.T, images ...v1.Image) string {
	t.Helper()
	named := map[name.Tag]v1.Image{}
	for i, one := range images {
		tag, err := name.NewTag("example.com/image:v" + string(rune('1'+i)))
		if err != nil {
			t.Fatal(err)
		}
		named[tag] = one
	}
	path := filepath.Join(t.TempDir(), "image.tar")
	if err := tarball.MultiWriteToFile(path, named); err != nil {
		t.Fatal(err)
	}
	return path
}

// ociArchive writes images as podman save --format oci-archive and skopeo do.
func ociArchive(t *testing.T, images ...v1.Image) string {
	t.Helper()
	folder := t.TempDir()
	written, err := layout.Write(folder, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range images {
		file, err := one.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if err := written.AppendImage(one, layout.WithPlatform(v1.Platform{OS: file.OS, Architecture: file.Architecture})); err != nil {
			t.Fatal(err)
		}
	}
	return packed(t, folder)
}

func packed(t *testing.T, folder string) string {
	t.Helper()
	content, err := archive.Tar(folder, archive.TarOptions{}.Compression)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(content); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "image.tar")
	write(t, path, text.String())
	return path
}

// target returns an empty folder without siblings.
func target(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "rootfs")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestUnpack(t *testing.T) {
	other := "s390x"
	for name, path := range map[string]string{
		"docker save":              saved(t, image(t, runtime.GOARCH, usual)),
		"OCI":                      ociArchive(t, image(t, runtime.GOARCH, usual)),
		"OCI, of several machines": ociArchive(t, image(t, other, usual), image(t, runtime.GOARCH, usual)),
	} {
		t.Run(name, func(t *testing.T) {
			folder := target(t)
			got, err := rootfs.Unpack(path, folder)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"/bin/program", "--always"}, got.Command); diff != "" || got.Dir != "/" || got.Labels["l"] != "m" || got.Env[1] != "A=b" {
				t.Errorf("%s: %+v", diff, got)
			}
			if got.User.Uid != 101 || got.User.Gid != 82 || len(got.User.Sgids) != 1 || got.User.Sgids[0] != 7 {
				t.Errorf("user %+v", got.User)
			}
			if info, err := os.Stat(filepath.Join(folder, "bin/program")); err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("the program: %v, %v", info, err)
			}
			ours, err := os.ReadFile("/etc/hosts")
			if theirs, again := os.ReadFile(filepath.Join(folder, "etc/hosts")); err == nil && (again != nil || !bytes.Equal(theirs, ours)) {
				t.Errorf("hosts: %q, %v", theirs, again)
			}
			if beside, err := os.ReadDir(filepath.Dir(folder)); err != nil || len(beside) != 1 {
				t.Errorf("left beside the folder: %v, %v", beside, err)
			}
		})
	}
}

func TestUnpackRefuses(t *testing.T) {
	export := filepath.Join(t.TempDir(), "export")
	write(t, filepath.Join(export, "bin/sh"), "")
	text := filepath.Join(t.TempDir(), "text.tar")
	write(t, text, strings.Repeat("no archive ", 100))
	with := func(set func(*v1.Config)) string {
		return saved(t, image(t, runtime.GOARCH, func(c *v1.Config) { usual(c); set(c) }))
	}
	for name, test := range map[string]struct{ path, want string }{
		"missing":        {"/no/such/image.tar", "no such file"},
		"folder":         {t.TempDir(), "it is a folder: name a file that docker save has written"},
		"no archive":     {text, "it is no image: name a file that docker save has written"},
		"docker export":  {packed(t, export), "docker save has written, not docker export"},
		"two images":     {saved(t, image(t, runtime.GOARCH, usual), image(t, "s390x", usual)), "the file has 2 images: save one of them"},
		"architecture":   {saved(t, image(t, "s390x", usual)), "it is for linux/s390x, but this machine is linux/" + runtime.GOARCH},
		"no command":     {with(func(c *v1.Config) { c.Entrypoint, c.Cmd = nil, nil }), "neither ENTRYPOINT nor CMD"},
		"no program":     {with(func(c *v1.Config) { c.Entrypoint = []string{"/bin/none"} }), "its entry point /bin/none is not in it"},
		"not on PATH":    {with(func(c *v1.Config) { c.Env = []string{"PATH=/sbin"} }), "its entry point program is not in it"},
		"no such a user": {with(func(c *v1.Config) { c.User = "nobody" }), "its USER nobody: "},
	} {
		_, err := rootfs.Unpack(test.path, target(t))
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "image "+test.path+": ") {
			t.Errorf("%s: error %v, want %s", name, err, test.want)
		}
	}
}

// An image cannot write outside its folder, through links or names.
func TestUnpackStaysInItsFolder(t *testing.T) {
	victim := t.TempDir()
	for name, headers := range map[string][]tar.Header{
		"a link to a folder": {{Name: "out", Linkname: victim, Typeflag: tar.TypeSymlink}, {Name: "out/file", Typeflag: tar.TypeReg}},
		"a name":             {{Name: "../../../../../../../.." + victim + "/file", Typeflag: tar.TypeReg}},
		"a link for /etc":    {{Name: "etc", Linkname: victim, Typeflag: tar.TypeSymlink}},
		"a link for hosts":   {{Name: "etc/hosts", Linkname: filepath.Join(victim, "hosts"), Typeflag: tar.TypeSymlink}},
	} {
		var text bytes.Buffer
		out := tar.NewWriter(&text)
		for _, header := range headers {
			header.Mode = 0o644
			if err := out.WriteHeader(&header); err != nil {
				t.Fatal(err)
			}
		}
		out.Close()
		evil, err := mutate.AppendLayers(image(t, runtime.GOARCH, usual), static.NewLayer(text.Bytes(), types.DockerUncompressedLayer))
		if err != nil {
			t.Fatal(err)
		}
		_, err = rootfs.Unpack(saved(t, evil), target(t))
		t.Logf("%s: %v", name, err)
		if err := filepath.WalkDir(victim, func(path string, _ fs.DirEntry, err error) error {
			if path != victim {
				t.Errorf("%s wrote %s", name, path)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
}
