package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ticksPerSecond is the unit of CPU times in /proc, the same on all Linux architectures that Go supports.
const ticksPerSecond = 100

// process is a program under measurement.
type process struct {
	started time.Time
	cmd     *exec.Cmd
	done    chan struct{}
	err     error
	out     output
}

// start starts a program with env added to the environment.
func start(bin string, env []string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(bin, args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt at the terminal reaches only this program
	p.started = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", bin, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// stop asks the program to end, and kills it after 20 s.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.done:
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// alive returns an error with the last output of the program once that has ended.
func (p *process) alive() error {
	select {
	case <-p.done:
		text := p.out.String()
		return fmt.Errorf("%s ended: %w\n%s", p.cmd.Path, errors.Join(p.err, errors.New("not asked to")), text[max(0, len(text)-2000):])
	default:
		return nil
	}
}

// memory is what a process holds, in MiB.
type memory struct{ peak, now float64 }

func (p *process) memory() (m memory, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return m, errors.Join(fmt.Errorf("read memory: %w", err), p.alive())
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		kib, _ := strconv.ParseFloat(f[1], 64)
		switch f[0] {
		case "VmHWM:":
			m.peak = kib / 1024
		case "VmRSS:":
			m.now = kib / 1024
		}
	}
	return m, nil
}

// cpu returns the CPU time of the process.
func (p *process) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, errors.Join(fmt.Errorf("read CPU time: %w", err), p.alive())
	}
	_, after, _ := strings.Cut(string(text), ") ") // the name before it may contain anything
	f := strings.Fields(after)
	if len(f) < 13 {
		return 0, fmt.Errorf("read CPU time: %q", text)
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * time.Second / ticksPerSecond, nil
}

// waitFor waits until the program has written a line, and returns when.
func (p *process) waitFor(ctx context.Context, line string) (time.Time, error) {
	for {
		if strings.Contains("\n"+p.out.String(), "\n"+line+"\n") {
			return time.Now(), nil
		}
		if err := errors.Join(pause(ctx, 20*time.Millisecond), p.alive()); err != nil {
			return time.Time{}, fmt.Errorf("wait for %q: %w", line, err)
		}
	}
}

// build builds a program of this module as a release is built.
func build(ctx context.Context, bin, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// reflectMethods counts the places in a program that look up a method by its name. A single one makes the linker keep every
// exported method of every type, which makes the program half as large again.
func reflectMethods(ctx context.Context, pkg string) (int, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w -dumpdep", "-o", os.DevNull, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("link %s: %w\n%s", pkg, err, out[max(0, len(out)-2000):])
	}
	const always = " -> main.main" // is in every program
	if !bytes.Contains(out, []byte(always)) {
		return 0, fmt.Errorf("link %s: the linker printed no dependencies", pkg)
	}
	return bytes.Count(out, []byte("<ReflectMethod> ->")), nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// pause waits, and returns the error of ctx if that ends first.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// output is a buffer that can be read while the process writes to it.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
