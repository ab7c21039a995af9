package scrape

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestAThousandOpenConnectionsDoNotKeepAScraperOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inMemory(t, nil, metricsHandler)
		var attackers []net.Conn
		for range 1000 {
			c, err := p.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			attackers = append(attackers, c)
		}
		synctest.Wait()
		began := time.Now()
		if _, body := fetch(t, clientOf(t, p, nil), http.MethodGet, "http://x"+Path, nil); body != secret {
			t.Errorf("answer %q", body)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the scraper waited %s", took)
		}
		open := 0
		for _, c := range attackers {
			_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); isTimeout(err) {
				open++
			}
			_ = c.Close()
		}
		if open >= maxConnections {
			t.Errorf("%d connections are open, want fewer than %d beside the scraper's", open, maxConnections)
		}
	})
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

func TestAConnectionThatIsBeingAnsweredIsSpared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := inMemory(t, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			<-release
			_, _ = io.WriteString(w, secret)
		}))
		c, err := p.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprint(c, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		var others []net.Conn
		for range 2 * maxConnections {
			o, err := p.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			others = append(others, o)
		}
		close(release)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("the oldest connection was closed in the middle of its answer: %v", err)
		}
		if body, _ := io.ReadAll(resp.Body); string(body) != secret {
			t.Errorf("answer %q", body)
		}
		_ = resp.Body.Close()
		for _, o := range append(others, c) {
			_ = o.Close()
		}
	})
}

func TestAFullListenerGivesUpTheOldest(t *testing.T) {
	l := &listener{max: 2}
	var conns [3]*conn
	for i := range conns {
		conns[i] = &conn{listener: l, answering: true}
	}
	if l.admit(conns[0]) != nil || l.admit(conns[1]) != nil {
		t.Fatal("given up although there is room")
	}
	if victim := l.admit(conns[2]); victim != conns[0] {
		t.Error("while all are being answered, not the oldest has to go")
	}
	conns[2].answering = false
	if victim := l.admit(&conn{listener: l}); victim != conns[2] {
		t.Error("not the one that waits has to go")
	}
}
