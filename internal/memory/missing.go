package memory

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// most is the greatest number of GPUs that was ever read of a Node.
type most struct {
	gpus    int32
	units   bool // read from scheduler units, which may turn out to be parts of GPUs
	sharing v1.Sharing
}

// countMost keeps the greatest count. It starts anew with other products, and when units that were counted as GPUs turn out
// to be shares of them.
func (r *recollection) countMost(out *v1.GpuNode) {
	if r.replaced {
		r.most = most{}
	}
	if !measured(&r.row) || out.GpuCount == nil || *out.GpuCount != *r.row.GpuCount {
		return
	}
	now := most{*out.GpuCount, onlyUnits(out.Gpus), out.Sharing}
	if now.gpus >= r.most.gpus || r.most.units && r.most.sharing != out.Sharing {
		r.most = now
	}
}

// measured reports whether a row's count was read from the machine and no other source contradicts it. While replicas are
// being switched on or off, units and labels disagree for a while.
func measured(row *v1.GpuNode) bool {
	return row.GpuCount != nil && !disputed(row) &&
		!slices.ContainsFunc(row.Gpus, func(g v1.GpuGroup) bool { return g.Source == v1.SourceCloud && !backed(row, g) })
}

// missingFormat is the sentence by which a row says how many GPUs the Node once had. It is parsed when a stored row is read:
// no other field has the number.
const missingFormat = "found %d of the %d GPUs that were read of this Node before"

var missingPattern = regexp.MustCompile("found [0-9]+ of the ([0-9]+) GPUs that were read of this Node before")

// reportMissing reports whether the Node has fewer GPUs than before, and says so in the message.
func (r *recollection) reportMissing(out *v1.GpuNode) bool {
	if out.GpuCount == nil || *out.GpuCount >= r.most.gpus {
		return false
	}
	out.Message = appendSentence(out.Message, fmt.Sprintf(missingFormat, *out.GpuCount, r.most.gpus))
	return true
}

// earlierCount returns the number of GPUs that the Node once had, if a message has the sentence that says so.
func earlierCount(message string) (int32, bool) {
	m := missingPattern.FindStringSubmatch(message)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 32)
	return int32(n), err == nil
}

// appendSentence adds a sentence to a message, which is cut if there is no room for both.
func appendSentence(message, sentence string) string {
	if message == "" {
		return sentence
	}
	const separator = "; "
	if room := v1.MaxMessageBytes - len(separator) - len(sentence); len(message) > room {
		message = strings.ToValidUTF8(message[:room], "")
	}
	return message + separator + sentence
}
