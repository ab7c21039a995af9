package scrape

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
)

const secret = "gpu_inventory_gpus 8\n"

var metricsHandler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, secret) })

func TestGuard(t *testing.T) {
	cases := map[string]struct {
		authorization string
		err           error
		want          int
		says          string
		asked         int
	}{
		"no token":                                 {want: http.StatusUnauthorized, says: "no bearer token"},
		"a password":                               {authorization: "Basic Z29vZDpnb29k", want: http.StatusUnauthorized, says: "no bearer token"},
		"an empty token":                           {authorization: "Bearer  ", want: http.StatusUnauthorized, says: "no bearer token"},
		"a token of nobody":                        {authorization: "Bearer bad", want: http.StatusUnauthorized, says: "who is that", asked: 1},
		"a token without the permission":           {authorization: "Bearer other", want: http.StatusForbidden, says: "may not", asked: 1},
		"a token with the permission":              {authorization: "Bearer good", want: http.StatusOK, says: secret, asked: 1},
		"a scheme in small letters":                {authorization: "bearer good", want: http.StatusOK, says: secret, asked: 1},
		"a token that is too long, unseen":         {authorization: "Bearer " + strings.Repeat("x", maxToken+1), want: http.StatusUnauthorized, says: "too long"},
		"an API server that cannot be asked":       {authorization: "Bearer good", err: errAway, want: http.StatusServiceUnavailable, says: "could not be asked", asked: 1},
		"the longest token that is still asked of": {authorization: "Bearer " + strings.Repeat("x", maxToken), want: http.StatusUnauthorized, says: "who is that", asked: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reviews := &fakeReviews{err: tc.err}
			g := newGuard(reviews, metricsHandler, logr.Discard())
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, Path, http.NoBody)
			if tc.authorization != "" {
				r.Header.Set("Authorization", tc.authorization)
			}
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			if w.Code != tc.want || !strings.Contains(w.Body.String(), tc.says) {
				t.Errorf("answer %d %q, want %d that says %q", w.Code, w.Body, tc.want, tc.says)
			}
			if w.Code != http.StatusOK && strings.Contains(w.Body.String(), secret) {
				t.Error("a refusal has the metrics in it")
			}
			if got := w.Header().Get("WWW-Authenticate") != ""; got != (w.Code == http.StatusUnauthorized) {
				t.Errorf("WWW-Authenticate is %q in an answer of %d", w.Header().Get("WWW-Authenticate"), w.Code)
			}
			if got := reviews.count(); got != tc.asked {
				t.Errorf("asked %d times, want %d", got, tc.asked)
			}
		})
	}
}

func TestGuardSaysWhenItHasNoTimeToAsk(t *testing.T) {
	g := newGuard(&fakeReviews{}, metricsHandler, logr.Discard())
	var last *httptest.ResponseRecorder
	for i := range 10 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, Path, http.NoBody)
		r.Header.Set("Authorization", "Bearer random-"+string(rune('a'+i)))
		last = httptest.NewRecorder()
		g.ServeHTTP(last, r)
	}
	if last.Code != http.StatusTooManyRequests || last.Header().Get("Retry-After") == "" {
		t.Errorf("answer %d, Retry-After %q", last.Code, last.Header().Get("Retry-After"))
	}
}

func TestGuardLogsAnOutageOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lines := logLines(t)
		g := newGuard(&fakeReviews{err: errAway}, metricsHandler, log)
		for range 12 {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, Path, http.NoBody)
			r.Header.Set("Authorization", "Bearer good")
			g.ServeHTTP(httptest.NewRecorder(), r)
			time.Sleep(10 * time.Second)
		}
		if got := lines(); len(got) != 2 || !strings.Contains(got[0], errAway.Error()) {
			t.Errorf("logged %q, want the cause twice in two minutes", got)
		}
	})
}

// reviewServer is an API server that knows one token and what its owner may do.
func reviewServer(t *testing.T, status int, authenticated, allowed bool, sar *authorizationv1.SubjectAccessReview) (*apiServer, *atomic.Int32) {
	t.Helper()
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		if status != http.StatusCreated {
			w.WriteHeader(status)
			return
		}
		w.WriteHeader(http.StatusCreated)
		switch r.URL.Path {
		case "/apis/authentication.k8s.io/v1/tokenreviews":
			var review authenticationv1.TokenReview
			_ = json.NewDecoder(r.Body).Decode(&review)
			review.Status.Authenticated = authenticated && review.Spec.Token == "the-token"
			review.Status.User = authenticationv1.UserInfo{
				Username: "system:serviceaccount:monitoring:prometheus", UID: "u", Groups: []string{"g"},
				Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}},
			}
			_ = json.NewEncoder(w).Encode(review)
		case "/apis/authorization.k8s.io/v1/subjectaccessreviews":
			_ = json.NewDecoder(r.Body).Decode(sar)
			answer := *sar
			answer.Status.Allowed = allowed
			_ = json.NewEncoder(w).Encode(answer)
		default:
			t.Errorf("asked for %s", r.URL.Path)
		}
	}))
	t.Cleanup(server.Close)
	api, err := newAPIServer(&rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	return api, &calls
}

func TestReviewAsksWhoItIsAndWhetherTheyMayGetThePath(t *testing.T) {
	cases := map[string]struct {
		authenticated, allowed bool
		want, calls            int
	}{
		"nobody":                        {false, false, http.StatusUnauthorized, 1},
		"somebody without a permission": {true, false, http.StatusForbidden, 2},
		"somebody who may":              {true, true, http.StatusOK, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var sar authorizationv1.SubjectAccessReview
			api, calls := reviewServer(t, http.StatusCreated, tc.authenticated, tc.allowed, &sar)
			got, err := api.review(t.Context(), "the-token", Path)
			if err != nil || got.code != tc.want || int(calls.Load()) != tc.calls {
				t.Errorf("review() = %v, %v after %d requests; want %d after %d", got, err, calls.Load(), tc.want, tc.calls)
			}
			if tc.calls < 2 {
				return
			}
			want := authorizationv1.SubjectAccessReviewSpec{
				User: "system:serviceaccount:monitoring:prometheus", UID: "u", Groups: []string{"g"},
				Extra:                 map[string]authorizationv1.ExtraValue{"k": {"v"}},
				NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"},
			}
			if diff := cmp.Diff(want, sar.Spec); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReviewKnowsNothingWhenTheAPIServerRefuses(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		api, _ := reviewServer(t, status, true, true, &authorizationv1.SubjectAccessReview{})
		if got, err := api.review(t.Context(), "the-token", Path); err == nil {
			t.Errorf("review() = %v after an answer of %d, want an error", got, status)
		}
	}
}

func TestAReviewThatFailsAfterItsScraperHasGoneIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lines := logLines(t)
		g := newGuard(&fakeReviews{hold: make(chan struct{})}, metricsHandler, log)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, Path, http.NoBody)
		r.Header.Set("Authorization", "Bearer good")
		g.ServeHTTP(httptest.NewRecorder(), r)
		if got := lines(); len(got) != 0 {
			t.Errorf("logged %q when the scraper went, want nothing: it is no fault", got)
		}
		time.Sleep(reviewTimeout)
		synctest.Wait()
		if got := lines(); len(got) != 1 {
			t.Errorf("logged %q, want the review that has failed", got)
		}
	})
}
