package scrape

import (
	"net"
	"slices"
	"sync"
)

// listener keeps at most max connections open. To accept one more, it closes the oldest connection that waits for a
// request or for the rest of one, or the oldest of all if every one is being answered. If it refused the new one instead, a
// client that opens connections and sends nothing could keep everybody out.
type listener struct {
	net.Listener
	max int

	mu   sync.Mutex
	open []*conn // oldest first
}

// conn is a connection that a listener accepted.
type conn struct {
	net.Conn
	listener  *listener
	answering bool // guarded by listener.mu
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, listener: l}
	if victim := l.admit(c); victim != nil {
		_ = victim.Conn.Close()
	}
	return c, nil
}

// admit adds c and returns the connection to close for it, if any.
func (l *listener) admit(c *conn) (victim *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.max {
		i := max(0, slices.IndexFunc(l.open, func(c *conn) bool { return !c.answering }))
		victim = l.open[i]
		l.open = slices.Delete(l.open, i, i+1)
	}
	l.open = append(l.open, c)
	return victim
}

// Close implements net.Conn.
func (c *conn) Close() error {
	l := c.listener
	l.mu.Lock()
	l.open = slices.DeleteFunc(l.open, func(o *conn) bool { return o == c })
	l.mu.Unlock()
	return c.Conn.Close()
}

// setAnswering records whether a request of the connection is being answered.
func (c *conn) setAnswering(yes bool) {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.answering = yes
}
