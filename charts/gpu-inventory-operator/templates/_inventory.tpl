{{/*
The GpuInventory that the operator applies. It is no resource of the release: Helm resolves every kind before it creates
anything, and the CRD comes with the same release; and Helm would delete it, or adopt it without changing it.

spec has only what the values set, so that a field left empty there belongs to whoever edits the object. The label
app.kubernetes.io/instance is left out: a GitOps tool that finds its objects by it would take this one for a leftover and
delete it.
*/}}
{{- define "gpu-inventory-operator.inventory" -}}
{{- $own := omit (include "gpu-inventory-operator.ownLabels" . | fromYaml) "app.kubernetes.io/instance" -}}
{{- $labels := merge (dict "app.kubernetes.io/managed-by" "gpu-inventory-operator") $own (omit (.Values.commonLabels | default dict) "app.kubernetes.io/instance") -}}
{{- $spec := dict }}
{{- with .Values.inventory }}
{{- with .note }}{{ $_ := set $spec "note" . }}{{ end }}
{{- with .nodeSelector }}{{ $_ := set $spec "nodeSelector" . }}{{ end }}
{{- with .expected }}
{{- $pools := list }}
{{- range . }}
{{- /* Helm's numbers are floating-point: a large one would be written with an exponent. */}}
{{- $pool := deepCopy . }}
{{- range list "nodes" "gpusPerNode" }}
{{- if hasKey $pool . }}{{ $_ := set $pool . (int64 (get $pool .)) }}{{ end }}
{{- end }}
{{- $pools = append $pools $pool }}
{{- end }}
{{- $_ := set $spec "expected" $pools }}
{{- end }}
{{- end -}}
apiVersion: homelab.youngju.dev/v1
kind: GpuInventory
metadata:
  name: {{ .Values.inventory.name | quote }}
  labels:
    {{- toYaml $labels | nindent 4 }}
  {{- with .Values.commonAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- toYaml $spec | nindent 2 }}
{{- end }}
