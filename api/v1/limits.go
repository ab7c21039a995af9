package v1

// Limits of the status, equal to the validation markers of its fields. An object that exceeds any of them is refused whole,
// so no writer may depend on what Nodes, specs and drivers happen to say.
const (
	// MaxMessageBytes is the length of a row's message.
	MaxMessageBytes = 1024
	// MaxProductBytes is the length of a product or a variant.
	MaxProductBytes = 253
	// MaxGroups is the number of groups of GPUs on a row.
	MaxGroups = 64
	// MaxResources is the number of resources on a row.
	MaxResources = 256
	// MaxSummaries is the number of product summaries, and of resource summaries.
	MaxSummaries = 2000
)
