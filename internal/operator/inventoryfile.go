package operator

import (
	"fmt"
	"net/http"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventoryfile"
)

// addInventoryFile makes the leader apply a GpuInventory, if one is given.
func (op *operator) addInventoryFile() error {
	if op.Inventory == nil {
		return nil
	}
	applier := &inventoryfile.Applier{
		Client: op.manager.GetClient(), Leader: op.elector, Manifest: op.Inventory, Log: op.log.WithName("inventory-file"),
	}
	if err := op.manager.Add(applier); err != nil {
		return fmt.Errorf("add inventory file: %w", err)
	}
	if err := op.manager.AddReadyzCheck("inventory-file", func(*http.Request) error { return applier.Ready() }); err != nil {
		return fmt.Errorf("add readyz check: %w", err)
	}
	return nil
}
