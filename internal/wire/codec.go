package wire

import (
	"bytes"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Codecs are codecs that prune what they decode from protobuf. Other media types, and what they encode, are as they were.
func Codecs(codecs runtime.NegotiatedSerializer) runtime.NegotiatedSerializer {
	return negotiated{codecs}
}

type negotiated struct{ runtime.NegotiatedSerializer }

// SupportedMediaTypes implements runtime.NegotiatedSerializer. The serializer of a stream decodes its frames, which hold
// objects for the other one to decode.
func (n negotiated) SupportedMediaTypes() []runtime.SerializerInfo {
	var out []runtime.SerializerInfo
	for _, info := range n.NegotiatedSerializer.SupportedMediaTypes() {
		if info.MediaType == runtime.ContentTypeProtobuf {
			info.Serializer = pruning{info.Serializer}
		}
		out = append(out, info)
	}
	return out
}

type pruning struct{ runtime.Serializer }

// Decode implements runtime.Decoder. A message that cannot be pruned is decoded as it is, so that the decoder says what is
// wrong with it.
func (p pruning) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	buffer := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buffer) <= maxBuffer {
			buffers.Put(buffer)
		}
	}()
	pruned, ok := pruneObject((*buffer)[:0], data)
	if !ok {
		return p.Serializer.Decode(data, defaults, into)
	}
	*buffer = pruned
	return p.Serializer.Decode(pruned, defaults, into) // which copies what it keeps
}

// maxBuffer keeps the buffers of lists from staying.
const maxBuffer = 64 << 10

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// magic begins every object. What follows is a runtime.Unknown, whose fields are the type, and the object itself.
var magic = []byte{'k', '8', 's', 0}

const (
	typeMeta = 1
	raw      = 2

	typeMetaKind = 2
)

// pruneObject appends to out an object without what nobody looks at. It is false for a kind that stays whole, and for data
// that is no such object.
func pruneObject(out, data []byte) ([]byte, bool) {
	envelope, ok := bytes.CutPrefix(data, magic)
	if !ok {
		return nil, false
	}
	keep, ok := kinds[kindOf(envelope)]
	if !ok {
		return nil, false
	}
	out, err := prune(append(out, magic...), envelope, fields{typeMeta: {}, raw: {of: keep}, 3: {}, 4: {}})
	return out, err == nil
}

// kindOf is the kind that an envelope names; empty: none.
func kindOf(envelope []byte) string {
	meta, ok := lastBytes(envelope, typeMeta)
	if !ok {
		return ""
	}
	kind, _ := lastBytes(meta, typeMetaKind)
	return string(kind)
}
