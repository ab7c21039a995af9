package gpu

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// elapsed matches times that pass: the kubelet writes some into its messages, and each would make a new message of the same
// state every few seconds.
var elapsed = regexp.MustCompile(`(?:[0-9]+(?:\.[0-9]+)?(?:h|ms|m|s|µs|us|ns))+ ago`)

// steady takes out of a text what changes while its meaning stays.
func steady(s string) string {
	return elapsed.ReplaceAllLiteralString(s, "some time ago")
}

// timeText is a time as messages have it: RFC 3339, UTC.
func timeText(t metav1.Time) string { return t.UTC().Format(time.RFC3339) }

// since says since when a condition has been what it is. Empty: the condition does not say.
func since(c *corev1.NodeCondition) string {
	if c.LastTransitionTime.IsZero() {
		return ""
	}
	return " since " + timeText(c.LastTransitionTime)
}

// sentence is a message without its full stop.
func sentence(message string) string {
	return strings.TrimRight(strings.TrimSpace(steady(clip(message, maxText))), ".")
}

// describeReady gives the Node's own reason and message, and since when. The reason is left out where it only repeats that
// the status is unknown.
func describeReady(c *corev1.NodeCondition) string {
	message := sentence(c.Message)
	switch {
	case message == "" && c.Reason == "":
		message = "Ready is " + clip(string(c.Status), maxName)
	case message == "":
		message = clip(c.Reason, maxName)
	case c.Reason == "" || c.Reason == "NodeStatusUnknown":
		message = lowerFirst(message)
	default:
		message = clip(c.Reason, maxName) + ": " + message
	}
	return fit(message, since(c))
}

// describeFault gives the type, status, reason and message of a condition, the XID, and since when.
func describeFault(c *corev1.NodeCondition) string {
	text := clip(string(c.Type), maxName) + "=" + clip(string(c.Status), maxName)
	if c.Reason != "" && c.Reason != string(c.Type) {
		text += ": " + clip(c.Reason, maxName)
	}
	if message := sentence(c.Message); message != "" {
		text += ": " + message
	}
	end := since(c)
	if n := xid(c); n != "" && !strings.Contains(strings.ToLower(text), "xid "+n) {
		end = ", XID " + n + end
	}
	return fit(text, end)
}

// fit joins a text and its end so that the end survives a long text.
func fit(text, end string) string {
	const room = maxText / 2
	return clip(text, room) + end
}

func lowerFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if second, _ := utf8.DecodeRuneInString(s[size:]); !unicode.IsLower(second) {
		return s // an acronym
	}
	return string(unicode.ToLower(first)) + s[size:]
}

// seeCondition records a condition and the field that it decided.
func (r *reader) seeCondition(c *corev1.NodeCondition, says, field string) {
	value := string(c.Status)
	if c.Reason != "" {
		value += " (" + c.Reason + ")"
	}
	if s := since(c); s != "" {
		value += s
	}
	r.see(KindCondition, string(c.Type), value, says)
	r.use(KindCondition, string(c.Type), field)
}
