package e2e_test

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// forkImage is an image of the controller whose programs may bind low ports, as in ingress-nginx's images.
const forkImage = "localhost/windtunnel-fork:capabilities"

// bindCapability is the value of the extended attribute security.capability for cap_net_bind_service=ep
// (struct vfs_cap_data of the kernel, version 2).
const bindCapability = "\x01\x00\x00\x02" + "\x00\x04\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

// forkPrograms are the files with the capability.
var forkPrograms = []string{"usr/bin/tini", "nginx-ingress-controller", "usr/sbin/nginx"}

// forkFolders are those that a fork's image has for its user, instead of volumes.
var forkFolders = []string{"etc/nginx/", "etc/ingress-controller/", "var/log/nginx/"}

// forkUser is the user of the image.
const forkUser = 101

// makeFork makes forkImage from the files of the controller's image.
func makeFork(ctx context.Context) error {
	engine := cmp.Or(os.Getenv("ENGINE"), "docker")
	made, err := exec.CommandContext(ctx, engine, "create", controllerImage).Output()
	if err != nil {
		return err
	}
	id := strings.TrimSpace(string(made))
	defer exec.CommandContext(context.WithoutCancel(ctx), engine, "rm", "--volumes", id).Run()
	export := exec.CommandContext(ctx, engine, "export", id)
	files, err := export.StdoutPipe()
	if err != nil {
		return err
	}
	changes := []string{"--change", `ENTRYPOINT ["/usr/bin/tini", "--"]`, "--change", `CMD ["/nginx-ingress-controller"]`, "--change", "USER 101:101"}
	load := exec.CommandContext(ctx, engine, slices.Concat([]string{"import"}, changes, []string{"-", forkImage})...)
	load.Stderr = os.Stderr
	image, err := load.StdinPipe()
	if err != nil {
		return err
	}
	if err := errors.Join(export.Start(), load.Start()); err != nil {
		return err
	}
	copied := toFork(files, image)
	if copied == nil {
		_, copied = io.Copy(io.Discard, files) // the padding of the archive
	}
	return errors.Join(copied, image.Close(), files.Close(), export.Wait(), load.Wait())
}

// toFork copies an archive of the controller's files, with the capability, and with folders of the user.
func toFork(from io.Reader, to io.Writer) error {
	in, out := tar.NewReader(from), tar.NewWriter(to)
	missing := slices.Clone(forkFolders)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return errors.Join(addFolders(missing, out), out.Close())
		}
		if err != nil {
			return err
		}
		missing = slices.DeleteFunc(missing, func(folder string) bool { return folder == header.Name })
		switch {
		case slices.Contains(forkPrograms, header.Name):
			header.Format, header.PAXRecords = tar.FormatPAX, map[string]string{"SCHILY.xattr.security.capability": bindCapability}
		case slices.ContainsFunc(forkFolders, func(folder string) bool { return strings.HasPrefix(header.Name, folder) }):
			header.Uid, header.Gid = forkUser, forkUser
		}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		if _, err := io.Copy(out, in); err != nil {
			return err
		}
	}
}

// addFolders adds folders of the user to an archive.
func addFolders(folders []string, to *tar.Writer) error {
	for _, folder := range folders {
		if err := to.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder, Mode: 0o755, Uid: forkUser, Gid: forkUser}); err != nil {
			return err
		}
	}
	return nil
}
