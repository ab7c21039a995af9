package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// fields are the fields of a message that are kept. All others are cut out.
type fields map[protowire.Number]part

// part says how much of a field is kept. The zero part is all of it.
type part struct {
	// of are the fields that are kept of a message.
	of fields
	// key says of which keys the entries of a map are kept.
	key func(string) bool
}

// prune appends to out what keep keeps of a message.
func prune(out, message []byte, keep fields) ([]byte, error) {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return nil, fmt.Errorf("read tag: %w", protowire.ParseError(tag))
		}
		size := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if size < 0 {
			return nil, fmt.Errorf("read field %d: %w", number, protowire.ParseError(size))
		}
		field := message[:tag+size]
		message = message[tag+size:]
		p, ok := keep[number]
		if !ok {
			continue
		}
		if kind != protowire.BytesType {
			out = append(out, field...)
			continue
		}
		value, _ := protowire.ConsumeBytes(field[tag:])
		switch {
		case p.key != nil && !p.key(mapKey(value)):
		case p.of != nil:
			var err error
			if out, err = pruneField(out, number, value, p.of); err != nil {
				return nil, fmt.Errorf("field %d: %w", number, err)
			}
		default:
			out = append(out, field...)
		}
	}
	return out, nil
}

// longest is the most bytes that a length takes.
const longest = 10

// pruneField appends a field with a message in it. How long that is, is known only when it has been pruned, so it is moved
// back to behind its length.
func pruneField(out []byte, number protowire.Number, value []byte, keep fields) ([]byte, error) {
	out = protowire.AppendTag(out, number, protowire.BytesType)
	length := len(out)
	start := length + longest
	out, err := prune(append(out, make([]byte, longest)...), value, keep)
	if err != nil {
		return nil, err
	}
	pruned := out[start:]
	out = protowire.AppendVarint(out[:length], uint64(len(pruned)))
	return append(out, pruned...), nil
}

// mapKey is the key of an entry of a map with strings as keys: field 1.
func mapKey(entry []byte) string {
	key, _ := lastBytes(entry, 1)
	return string(key)
}

// lastBytes is the value of a field. When it comes more than once, the last counts, as for a decoder.
func lastBytes(message []byte, want protowire.Number) (value []byte, ok bool) {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return nil, false
		}
		size := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if size < 0 {
			return nil, false
		}
		if number == want && kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(message[tag : tag+size])
			ok = true
		}
		message = message[tag+size:]
	}
	return value, ok
}
