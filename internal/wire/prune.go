package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// fields are the fields of a message that are kept, by number. All others are cut out.
type fields map[protowire.Number]part

// part says how much of a field is kept. The zero value keeps all of it.
type part struct {
	// of are the fields to keep of a field that is a message.
	of fields
	// key reports whether to keep the entry with a key, for a field that is a map.
	key func(string) bool
}

// prune appends to out the fields of message that are in keep.
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

// longest is the most bytes that an encoded length takes.
const longest = 10

// pruneField appends a field that is a message. Its length comes first, but is known only after the message has been pruned.
// So the message is pruned at some distance, and then moved to the end of its length.
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

// mapKey returns field 1 of an entry of a map, which is its key.
func mapKey(entry []byte) string {
	key, _ := lastBytes(entry, 1)
	return string(key)
}

// lastBytes returns the value of a field. If the field occurs more than once, the last one counts, as for a decoder.
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
