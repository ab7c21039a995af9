package scrape

import (
	"context"
	"fmt"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// verdict is the answer to a question: http.StatusOK, or the status to refuse the request with and, for people, the reason.
type verdict struct {
	code   int
	reason string
}

// reviewer decides whether the owner of a token may get a path. An error means that this is not known.
type reviewer interface {
	review(ctx context.Context, token, path string) (verdict, error)
}

// apiServer is the reviewer that asks the API server.
type apiServer struct {
	tokens authenticationclient.TokenReviewInterface
	access authorizationclient.SubjectAccessReviewInterface
}

// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

func newAPIServer(cfg *rest.Config) (*apiServer, error) {
	tokens, err := authenticationclient.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("create client for token reviews: %w", err)
	}
	access, err := authorizationclient.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("create client for subject access reviews: %w", err)
	}
	return &apiServer{tokens.TokenReviews(), access.SubjectAccessReviews()}, nil
}

func (a *apiServer) review(ctx context.Context, token, path string) (verdict, error) {
	identity, err := a.tokens.Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token},
	}, metav1.CreateOptions{})
	if err != nil {
		return verdict{}, fmt.Errorf("create token review: %w", err)
	}
	if !identity.Status.Authenticated {
		return verdict{http.StatusUnauthorized, "the API server does not accept the bearer token; it may have expired"}, nil
	}
	user := identity.Status.User
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	access, err := a.access.Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.Username, Groups: user.Groups, UID: user.UID, Extra: extra,
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return verdict{}, fmt.Errorf("create subject access review: %w", err)
	}
	if !access.Status.Allowed {
		return verdict{http.StatusForbidden, fmt.Sprintf(
			"%q may not get %s; bind it to a ClusterRole with nonResourceURLs [%q] and verbs [\"get\"], such as the chart's ...-metrics-reader",
			user.Username, path, path)}, nil
	}
	return verdict{code: http.StatusOK}, nil
}
