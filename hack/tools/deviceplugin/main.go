// Command deviceplugin offers pretended devices to the kubelet of the machine that it runs on, so that a node without GPUs
// has some for the end-to-end suite. It registers again when the kubelet has restarted.
//
//	deviceplugin -count 4 -unhealthy FILE
//
// FILE holds how many of the devices are unhealthy, and may change while the program runs; without the file none is.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	plugin "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// poll is how often the file and the socket are looked at.
const poll = 300 * time.Millisecond

// devices are what the program offers.
type devices struct {
	plugin.UnimplementedDevicePluginServer
	resource, unhealthyFile string
	count                   int
}

func main() {
	d := &devices{}
	folder := flag.String("dir", plugin.DevicePluginPath, "folder of the kubelet's sockets")
	flag.StringVar(&d.resource, "resource", "nvidia.com/gpu", "extended resource to offer")
	flag.IntVar(&d.count, "count", 4, "how many devices")
	flag.StringVar(&d.unhealthyFile, "unhealthy", "", "file with the number of unhealthy devices")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for ctx.Err() == nil {
		if err := d.serve(ctx, *folder); err != nil && ctx.Err() == nil {
			log.Printf("offer %s: %v; trying again", d.resource, err)
			wait(ctx, time.Second)
		}
	}
}

// serve registers the devices and offers them until ctx ends or the kubelet, at its start, has removed the socket.
func (d *devices) serve(ctx context.Context, folder string) error {
	name := strings.NewReplacer("/", "-", ".", "-").Replace(d.resource) + ".sock"
	socket := filepath.Join(folder, name)
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	plugin.RegisterDevicePluginServer(server, d)
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()

	if err := register(ctx, filepath.Join(folder, "kubelet.sock"), &plugin.RegisterRequest{
		Version: plugin.Version, Endpoint: name, ResourceName: d.resource,
	}); err != nil {
		return fmt.Errorf("register with the kubelet: %w", err)
	}
	for ctx.Err() == nil {
		if _, err := os.Stat(socket); err != nil {
			return nil
		}
		wait(ctx, poll)
	}
	return nil
}

func register(ctx context.Context, kubelet string, request *plugin.RegisterRequest) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := grpc.NewClient("unix://"+kubelet, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it has served its purpose
	_, err = plugin.NewRegistrationClient(conn).Register(ctx, request)
	return err
}

// GetDevicePluginOptions implements the plugin: there are none.
func (*devices) GetDevicePluginOptions(context.Context, *plugin.Empty) (*plugin.DevicePluginOptions, error) {
	return &plugin.DevicePluginOptions{}, nil
}

// ListAndWatch implements the plugin: it sends the devices, again whenever the number of unhealthy ones changes.
func (d *devices) ListAndWatch(_ *plugin.Empty, stream plugin.DevicePlugin_ListAndWatchServer) error {
	sent := -1
	for ctx := stream.Context(); ctx.Err() == nil; wait(ctx, poll) {
		unhealthy := d.unhealthy()
		if unhealthy == sent {
			continue
		}
		answer := &plugin.ListAndWatchResponse{}
		for i := range d.count {
			device := &plugin.Device{ID: fmt.Sprintf("pretended-%d", i), Health: plugin.Healthy}
			if i < unhealthy {
				device.Health = plugin.Unhealthy
			}
			answer.Devices = append(answer.Devices, device)
		}
		if err := stream.Send(answer); err != nil {
			return err
		}
		sent = unhealthy
	}
	return nil
}

// Allocate implements the plugin: a container gets nothing but the names of its devices.
func (*devices) Allocate(_ context.Context, request *plugin.AllocateRequest) (*plugin.AllocateResponse, error) {
	answer := &plugin.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		answer.ContainerResponses = append(answer.ContainerResponses, &plugin.ContainerAllocateResponse{
			Envs: map[string]string{"PRETENDED_DEVICES": strings.Join(container.DevicesIds, ",")},
		})
	}
	return answer, nil
}

// unhealthy reads the file. What is not a number counts as none: the file may be half-written.
func (d *devices) unhealthy() int {
	content, err := os.ReadFile(d.unhealthyFile)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0
	}
	return n
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
