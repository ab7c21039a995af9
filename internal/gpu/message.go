package gpu

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// elapsed matches times that pass: the kubelet writes some into its messages, and each would make a new message of the same
// state every few seconds.
var elapsed = regexp.MustCompile(`(?:[0-9]+(?:\.[0-9]+)?(?:h|ms|m|s|µs|us|ns))+ ago`)

// steady takes out of a text what changes while its meaning stays.
func steady(s string) string {
	return elapsed.ReplaceAllLiteralString(s, "some time ago")
}

// timeText is a time as messages have it: RFC 3339, UTC.
func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// since says since when a condition has been what it is. Empty: the condition does not say.
func since(c nodeCondition) string {
	t := time.Unix(c.since, 0)
	if t.IsZero() {
		return ""
	}
	return " since " + timeText(t)
}

// sentence is a message without its full stop.
func sentence(message string) string {
	return strings.TrimRight(strings.TrimSpace(steady(clip(message, maxText))), ".")
}

// describeReady gives the Node's own reason and message, and since when. The reason is left out where it only repeats that
// the status is unknown.
func describeReady(c nodeCondition) string {
	text := c.text.Value()
	message := sentence(text.message)
	switch {
	case message == "" && text.reason == "":
		message = "Ready is " + clip(string(text.status), maxName)
	case message == "":
		message = clip(text.reason, maxName)
	case text.reason == "" || text.reason == "NodeStatusUnknown":
		message = lowerFirst(message)
	default:
		message = clip(text.reason, maxName) + ": " + message
	}
	return fit(message, since(c))
}

// describeFault gives the type, status, reason and message of a condition, the XID, and since when.
func describeFault(c nodeCondition) string {
	said := c.text.Value()
	text := clip(string(said.kind), maxName) + "=" + clip(string(said.status), maxName)
	if said.reason != "" && said.reason != string(said.kind) {
		text += ": " + clip(said.reason, maxName)
	}
	if message := sentence(said.message); message != "" {
		text += ": " + message
	}
	end := since(c)
	if n := xid(said); n != "" && !strings.Contains(strings.ToLower(text), "xid "+n) {
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
func (r *reader) seeCondition(c nodeCondition, says, field string) {
	text := c.text.Value()
	value := string(text.status)
	if text.reason != "" {
		value += " (" + text.reason + ")"
	}
	if s := since(c); s != "" {
		value += s
	}
	r.see(KindCondition, string(text.kind), value, says)
	r.use(KindCondition, string(text.kind), field)
}
