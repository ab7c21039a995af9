package e2e

import (
	"context"
	"os/exec"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// platform is the machine behind the cluster: what no client of the API server can do to it, a script does.
type platform struct {
	script         string
	kubeletStopped bool
}

// gpus gives a node n devices of nvidia.com/gpu; 0 ends the device plugin.
func (p *platform) gpus(ctx context.Context, n int) { p.run(ctx, "gpus", strconv.Itoa(n)) }

// unhealthy makes the device plugin report n of its devices as unhealthy.
func (p *platform) unhealthy(ctx context.Context, n int) { p.run(ctx, "unhealthy", strconv.Itoa(n)) }

// stopKubelet stops the one of the node with the devices.
func (p *platform) stopKubelet(ctx context.Context) {
	p.kubeletStopped = true
	p.run(ctx, "kubelet", "stop")
}

// startKubelet starts it again, if it was stopped.
func (p *platform) startKubelet(ctx context.Context) {
	if p.kubeletStopped {
		p.run(ctx, "kubelet", "start")
		p.kubeletStopped = false
	}
}

func (p *platform) run(ctx context.Context, args ...string) {
	GinkgoHelper()
	By("telling the platform: " + strings.Join(args, " "))
	out, err := exec.CommandContext(ctx, p.script, args...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s %s: %s", p.script, strings.Join(args, " "), out)
}
