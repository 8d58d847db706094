package lua_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"windtunnel.dev/internal/nginxtest"
)

// TestSpecsWithBusted runs the specs of TestSpecs with the real busted, inside nginx, to check that
// our runner gives the same results.
func TestSpecsWithBusted(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("ours", func(t *testing.T) { runBusted(t, specs{dir: here}) })
	dir := os.Getenv("WINDTUNNEL_SPECS")
	if dir == "" {
		return
	}
	t.Run("theirs", func(t *testing.T) {
		s := theirs(t, dir)
		s.main, s.dir = os.Getenv("WINDTUNNEL_SPECS_MAIN"), os.Getenv("WINDTUNNEL_SPECS_DIR")
		runBusted(t, s)
	})
}

// bustedPath is the Lua path of Debian's package lua-busted and its dependencies. They are built
// for Lua 5.1, and LuaJIT can load them, too.
const bustedPath = "/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua;"

func runBusted(t *testing.T, what specs) {
	t.Parallel()
	if _, err := exec.LookPath("busted"); err != nil {
		t.Skip("needs busted: apt-get install lua-busted")
	}
	if _, err := os.Stat("/usr/share/lua/5.1/busted/runner.lua"); err != nil {
		t.Skip("needs busted for Lua 5.1: ", err)
	}
	c, program := newSpecSite(t, what)
	c.Path = bustedPath + c.Path + ";"
	if found, _ := filepath.Glob("/usr/lib/*/lua/5.1/cjson.so"); len(found) > 0 {
		c.CPath = filepath.Dir(found[0]) + "/?.so"
	}
	// Use a single process, because busted calls os.exit when a spec has failed.
	c.Global = "master_process off;"
	pattern, files, main := "_spec", c.Code+"/spec", `require("busted.runner")({ standalone = false })`
	if len(what.files) > 0 {
		pattern, files = "_test", filepath.Dir(what.files[0])
	}
	if what.main != "" {
		main = fmt.Sprintf("dofile(%q)", what.main)
	}
	c.Lua = fmt.Sprintf(`rawset(_G, "arg", { [0] = %q, "-o", "TAP", "--pattern=%s", %q })
  local ok, err = xpcall(function() %s end, debug.traceback)
  if not ok then io.stderr:write(tostring(err), "\n") end
  io.stdout:flush()
  os.exit(ok and 0 or 1)`, what.main, pattern, files, main)

	ctx, cancel := context.WithTimeout(t.Context(), nginxtest.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program.Binary, "-c", c.write(t))
	var out, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errors
	err := cmd.Run()
	results := readTAP(out.String())
	failed := false
	for _, result := range results {
		failed = failed || result.Status == "failed"
		result.report(t)
	}
	if len(results) == 0 || err != nil && !failed {
		t.Errorf("%d specs ran: %v: %s", len(results), err, &errors)
	}
}

var tapLine = regexp.MustCompile(`^(ok|not ok) \d+(?: - | # (SKIP|PENDING) |\s*)(.*)$`)

// readTAP parses the output of busted: a line for each spec, followed by comments with its errors.
func readTAP(text string) (results []result) {
	for scanner := bufio.NewScanner(strings.NewReader(text)); scanner.Scan(); {
		line := scanner.Text()
		switch match := tapLine.FindStringSubmatch(line); {
		case match == nil && len(results) > 0:
			results[len(results)-1].Message += line + "\n"
		case match == nil:
		case match[2] != "":
			results = append(results, result{Name: match[3], Status: "skipped"})
		case match[1] == "ok":
			results = append(results, result{Name: match[3], Status: "passed"})
		default:
			results = append(results, result{Name: match[3], Status: "failed"})
		}
	}
	return results
}
