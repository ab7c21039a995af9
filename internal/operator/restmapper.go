package operator

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// restMapper maps the kinds that the manager's client reads and writes to their resources. ConfigMaps are what they have
// always been, so that the operator starts while the API server is away; only what a CRD brings is asked for, and found
// when it comes.
func restMapper(cfg *rest.Config, httpClient *http.Client) (meta.RESTMapper, error) {
	core := meta.NewDefaultRESTMapper(nil)
	core.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	served, err := apiutil.NewDynamicRESTMapper(cfg, httpClient)
	if err != nil {
		return nil, err
	}
	return meta.FirstHitRESTMapper{MultiRESTMapper: meta.MultiRESTMapper{core, served}}, nil
}
