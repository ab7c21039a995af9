package harness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// BuildManager builds the manager into dir and returns the path of the program.
func BuildManager(ctx context.Context, dir string) (string, error) {
	bin := filepath.Join(dir, "manager")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", bin, "github.com/gpu-inventory/gpu-inventory-operator/cmd/manager")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build manager: %w\n%s", err, out)
	}
	return bin, nil
}

// Manager is the operator running as a process.
type Manager struct {
	// MetricsURL and ProbeURL are the URLs that it serves, without a path.
	MetricsURL, ProbeURL string

	cmd  *exec.Cmd
	done chan struct{}
	err  error
	log  *logBuffer
}

// StartManager starts the program with a kubeconfig, on free loopback ports, and returns at once.
func StartManager(bin, kubeconfig, namespace string, args ...string) (*Manager, error) {
	metrics, probes, err := freePorts()
	if err != nil {
		return nil, err
	}
	m := &Manager{
		MetricsURL: "http://" + metrics, ProbeURL: "http://" + probes,
		done: make(chan struct{}), log: &logBuffer{},
	}
	m.cmd = exec.Command(bin, append([]string{
		"--kubeconfig=" + kubeconfig, "--namespace=" + namespace,
		"--metrics-bind-address=" + metrics, "--metrics-secure=false", "--health-probe-bind-address=" + probes,
	}, args...)...)
	m.cmd.Stderr = m.log
	// In a process group of its own, an interrupt at the terminal reaches only this program, which then stops the manager.
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start manager: %w", err)
	}
	go func() {
		m.err = m.cmd.Wait()
		close(m.done)
	}()
	return m, nil
}

// Stop asks the process to end, as a kubelet would, and returns the error that it ended with. It kills the process after 30 s.
func (m *Manager) Stop() error {
	select {
	case <-m.done:
		return m.err
	default:
	}
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal manager: %w", err)
	}
	select {
	case <-m.done:
		return m.err
	case <-time.After(30 * time.Second):
		return errors.Join(errors.New("manager did not stop within 30 s of SIGTERM"), m.Kill())
	}
}

// Kill ends the process without letting it clean up.
func (m *Manager) Kill() error {
	err := m.cmd.Process.Kill()
	<-m.done
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Exited returns a channel that is closed when the process has ended.
func (m *Manager) Exited() <-chan struct{} { return m.done }

// Log returns what the process has logged so far.
func (m *Manager) Log() string { return m.log.String() }

// Logged returns the log entries with the given message.
func (m *Manager) Logged(msg string) []map[string]any {
	var out []map[string]any
	lines := bufio.NewScanner(strings.NewReader(m.Log()))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var entry map[string]any
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry["msg"] == msg {
			out = append(out, entry)
		}
	}
	return out
}

// Metrics returns the answer to a scrape of the process.
func (m *Manager) Metrics() (string, error) {
	_, body, err := get(m.MetricsURL + "/metrics")
	return body, err
}

// Probe asks a probe endpoint, such as /readyz, and returns the HTTP status.
func (m *Manager) Probe(path string) (int, error) {
	code, _, err := get(m.ProbeURL + path)
	return code, err
}

func get(url string) (int, string, error) {
	c := http.Client{Timeout: 5 * time.Second}
	resp, err := c.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is lost
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

func freePorts() (a, b string, err error) {
	la, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", fmt.Errorf("find a free port: %w", err)
	}
	defer la.Close() //nolint:errcheck // only asked for a number
	lb, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", fmt.Errorf("find a free port: %w", err)
	}
	defer lb.Close() //nolint:errcheck // only asked for a number
	return la.Addr().String(), lb.Addr().String(), nil
}

// logBuffer is a buffer that can be read while the process writes to it.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
