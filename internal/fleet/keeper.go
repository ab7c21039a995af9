package fleet

// Keeper takes in the objects of one kind. Of an object of type O it keeps a T, so that typed objects never add up.
//
// Set, Remove and Replace must not be called at the same time as each other. Reduce may be called at any time.
type Keeper[O Object, T any] struct {
	// Reduce returns what is kept of an object; nil: nothing. The object must not be used afterwards.
	Reduce func(O) *T
	// Set takes what is kept of an object that was added or has changed.
	Set func(*T)
	// Remove drops the object with a key, as Key returns it. The object need not be there.
	Remove func(key string)
	// Replace takes a whole list. Objects that are not in it are gone.
	Replace func([]*T)
}

// Object is any object of the Kubernetes API.
type Object interface {
	GetNamespace() string
	GetName() string
}

// Key returns an object's name, with its namespace if it has one.
func Key(o Object) string {
	if ns := o.GetNamespace(); ns != "" {
		return ns + "/" + o.GetName()
	}
	return o.GetName()
}
