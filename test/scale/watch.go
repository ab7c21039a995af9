package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// published is one version of a GpuInventory's status, as a watcher gets it.
type published struct {
	at    time.Time // when the whole event had arrived; it was decoded after that
	nodes *int32
	ready *int32
	free  *int32
}

// watchStatus returns a channel of the versions of a GpuInventory, from the current one on. It is closed when the watch ends.
func (c *cluster) watchStatus(ctx context.Context, name string) (<-chan published, error) {
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	url := strings.TrimSuffix(c.config.Host, "/") + statusPath("") + "?watch=true&fieldSelector=metadata.name%3D" + name
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("watch gpuinventory %s: %w", name, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("watch gpuinventory %s: %s", name, resp.Status), resp.Body.Close())
	}
	out := make(chan published, 1024)
	go func() {
		defer close(out)
		defer resp.Body.Close() //nolint:errcheck // nothing is lost
		lines := bufio.NewReaderSize(resp.Body, 1<<20)
		for {
			line, err := lines.ReadBytes('\n')
			at := time.Now()
			if err != nil {
				return
			}
			var event struct {
				Object struct {
					Status struct {
						TotalGpuNodes, ReadyGpuNodes, FreeGpus *int32
					}
				}
			}
			if json.Unmarshal(line, &event) != nil {
				return
			}
			s := event.Object.Status
			out <- published{at, s.TotalGpuNodes, s.ReadyGpuNodes, s.FreeGpus}
		}
	}()
	return out, nil
}

// statusPath returns the API path of the status of a GpuInventory, or that of all GpuInventories if the name is empty.
func statusPath(name string) string {
	path := "/apis/" + v1.GroupVersion.String() + "/gpuinventories"
	if name == "" {
		return path
	}
	return path + "/" + name + "/status"
}

// until reads versions until one is wanted, and returns it with the number of versions read.
func until(ctx context.Context, statuses <-chan published, limit time.Duration, wanted func(published) bool) (published, int, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return published{}, 0, fmt.Errorf("wait for a status, %s: %w", limit, ctx.Err())
		case p, ok := <-statuses:
			if !ok {
				return published{}, 0, errors.New("the watch of the status has ended")
			}
			if wanted(p) {
				return p, n, nil
			}
		}
	}
}

// drain reads the versions that have arrived, and returns their number.
func drain(statuses <-chan published) (n int) {
	for {
		select {
		case _, ok := <-statuses:
			if !ok {
				return n
			}
			n++
		default:
			return n
		}
	}
}

func is(have *int32, want int) bool { return have != nil && int(*have) == want }
