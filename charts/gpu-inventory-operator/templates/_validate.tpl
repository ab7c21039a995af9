{{/* What the schema cannot say: values that do not go together. All that is wrong is said at once, each with what to set. */}}
{{- define "gpu-inventory-operator.validate" -}}
{{- $wrong := concat (include "gpu-inventory-operator.validateMetrics" . | fromJsonArray) (include "gpu-inventory-operator.validateOperator" . | fromJsonArray) }}
{{- if $wrong }}
{{- fail (printf "\n\nThese values do not go together:\n- %s\n" (join "\n- " $wrong)) }}
{{- end }}
{{- end }}

{{- define "gpu-inventory-operator.validateMetrics" -}}
{{- $wrong := list }}
{{- with .Values.metrics }}
{{- $certificate := or .certificate.secretName .certificate.certManager.enabled }}
{{- if and .namespaces (not $.Values.allocation.enabled) }}
{{- $wrong = append $wrong "metrics.namespaces needs allocation.enabled: set allocation.enabled=true or metrics.namespaces=false" }}
{{- end }}
{{- if eq (int .port) 8081 }}
{{- $wrong = append $wrong "metrics.port is 8081, where the probes are: set another port" }}
{{- end }}
{{- if and .certificate.secretName .certificate.certManager.enabled }}
{{- $wrong = append $wrong "metrics.certificate has both secretName and certManager.enabled: set one of them" }}
{{- end }}
{{- if and $certificate (not .secure) }}
{{- $wrong = append $wrong "metrics.certificate is of no use while metrics.secure is false: set metrics.secure=true, or leave metrics.certificate.secretName empty and set metrics.certificate.certManager.enabled=false" }}
{{- end }}
{{- if and .readers (not .secure) }}
{{- $wrong = append $wrong "metrics.readers restricts nothing while metrics.secure is false: set metrics.secure=true or metrics.readers=[]" }}
{{- end }}
{{- if and .serviceMonitor.enabled .podMonitor.enabled }}
{{- $wrong = append $wrong "metrics.serviceMonitor and metrics.podMonitor are both enabled, and every series would be there twice: set enabled=false for one of them" }}
{{- end }}
{{- if and .podMonitor.enabled .secure (not .podMonitor.authorization) }}
{{- $wrong = append $wrong "metrics.podMonitor cannot use the token of Prometheus' own ServiceAccount: set metrics.podMonitor.authorization to a Secret with a token, use metrics.serviceMonitor instead, or set metrics.secure=false" }}
{{- end }}
{{- range $name := list "serviceMonitor" "podMonitor" }}
{{- $monitor := get $.Values.metrics $name }}
{{- if and $monitor.enabled $certificate (not $monitor.tlsConfig) (ne (default (include "gpu-inventory-operator.namespace" $) $monitor.namespace) (include "gpu-inventory-operator.namespace" $)) }}
{{- $wrong = append $wrong (printf "metrics.%s is in the namespace %s and finds no Secret with the CA there: leave metrics.%s.namespace empty, or set metrics.%s.tlsConfig" $name $monitor.namespace $name $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- toJson $wrong }}
{{- end }}

{{- define "gpu-inventory-operator.validateOperator" -}}
{{- $wrong := list }}
{{- with .Values }}
{{- if and (not .serviceAccount.create) (not .serviceAccount.name) }}
{{- $wrong = append $wrong "serviceAccount.create is false, and the permissions need an account: set serviceAccount.name to one that exists" }}
{{- end }}
{{- if and (not .inventory.create) (or .inventory.note .inventory.nodeSelector .inventory.expected) }}
{{- $wrong = append $wrong "inventory.create is false, so that inventory.note, nodeSelector and expected have no effect: set inventory.create=true, or leave them empty" }}
{{- end }}
{{- if and .networkPolicy.egress.enabled (not .networkPolicy.enabled) }}
{{- $wrong = append $wrong "networkPolicy.egress.enabled has no effect alone: set networkPolicy.enabled=true too" }}
{{- end }}
{{- if and (not .tests.image.repository) (or .tests.image.tag .tests.image.digest) }}
{{- $wrong = append $wrong "tests.image has a tag or a digest but no repository: set tests.image.repository" }}
{{- end }}
{{- with include "gpu-inventory-operator.goMemLimit" $ }}
{{- if lt (int64 .) 15099494 }}
{{- $wrong = append $wrong (printf "resources.limits.memory is %v, less than the operator starts with: set at least 16Mi, 256Mi by default" $.Values.resources.limits.memory) }}
{{- end }}
{{- end }}
{{- $valueOf := dict "namespace" "namespaceOverride" "configmap-name" "configMap.name" "allocation" "allocation.enabled" "dra" "dra.enabled" "extra-gpu-resources" "extraGpuResources" "namespace-metrics" "metrics.namespaces" "per-node-metrics-limit" "metrics.perNodeLimit" "metrics-bind-address" "metrics.port" "metrics-secure" "metrics.secure" "metrics-cert-dir" "metrics.certificate" "inventory-file" "inventory" "install-crds" "crds.install" "log-level" "log.level" "log-format" "log.format" }}
{{- range .extraArgs }}
{{- $flag := trimAll "-" (first (splitList "=" .)) }}
{{- with get $valueOf $flag }}
{{- $wrong = append $wrong (printf "extraArgs has --%s: set %s in its place" $flag .) }}
{{- end }}
{{- if has $flag (list "health-probe-bind-address" "leader-election-id") }}
{{- $wrong = append $wrong (printf "extraArgs has --%s, which the chart needs at its default: take it out" $flag) }}
{{- end }}
{{- if and (eq $flag "leader-elect") (gt (int $.Values.replicaCount) 1) (hasSuffix "=false" .) }}
{{- $wrong = append $wrong "extraArgs has --leader-elect=false, with which every replica would write: set replicaCount=1 or take it out" }}
{{- end }}
{{- end }}
{{- range .extraEnv }}
{{- if eq .name "POD_NAMESPACE" }}
{{- $wrong = append $wrong "extraEnv has POD_NAMESPACE: set namespaceOverride in its place" }}
{{- end }}
{{- end }}
{{- end }}
{{- toJson $wrong }}
{{- end }}
