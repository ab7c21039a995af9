package wire

import (
	"bytes"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Codecs returns codecs that prune what they decode from protobuf. Everything else is as in the given ones.
func Codecs(codecs runtime.NegotiatedSerializer) runtime.NegotiatedSerializer {
	return negotiated{codecs}
}

type negotiated struct{ runtime.NegotiatedSerializer }

// SupportedMediaTypes implements runtime.NegotiatedSerializer. The stream serializers stay as they are: they decode only the
// frames of a watch, and Serializer decodes the objects in them.
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

// Decode implements runtime.Decoder. A message that cannot be pruned is decoded as it is, so that the decoder reports what is
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
	return p.Serializer.Decode(pruned, defaults, into) // it copies what it keeps, so the buffer can be reused
}

// maxBuffer is the size above which a buffer, such as that of a list, is not reused.
const maxBuffer = 64 << 10

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// magic begins every object. A runtime.Unknown follows, which has the type and the object itself.
var magic = []byte{'k', '8', 's', 0}

const (
	typeMeta = 1
	raw      = 2

	typeMetaKind = 2
)

// pruneObject appends a pruned object to out. It returns false for a kind that stays whole, and for data that is not an
// object.
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

// kindOf returns the kind in an envelope, or an empty string if it has none.
func kindOf(envelope []byte) string {
	meta, ok := lastBytes(envelope, typeMeta)
	if !ok {
		return ""
	}
	kind, _ := lastBytes(meta, typeMetaKind)
	return string(kind)
}
