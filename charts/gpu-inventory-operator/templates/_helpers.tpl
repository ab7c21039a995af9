{{/* The names end where Kubernetes ends them: at 63 characters. */}}
{{- define "gpu-inventory-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "gpu-inventory-operator.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* The name of a Service ends at 63 characters too, with what is added to it. */}}
{{- define "gpu-inventory-operator.metricsName" -}}
{{- printf "%s-metrics" (include "gpu-inventory-operator.fullname" . | trunc 55 | trimSuffix "-") }}
{{- end }}

{{- define "gpu-inventory-operator.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{- define "gpu-inventory-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "gpu-inventory-operator.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/* The pod of helm test has a name of its own: with that of the operator, the Service would lead to it too. */}}
{{- define "gpu-inventory-operator.testLabels" -}}
app.kubernetes.io/name: {{ printf "%s-test" (include "gpu-inventory-operator.name" . | trunc 58 | trimSuffix "-") | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "gpu-inventory-operator.ownLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "gpu-inventory-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: gpu-inventory-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "gpu-inventory-operator.labels" -}}
{{- toYaml (merge (dict) (include "gpu-inventory-operator.ownLabels" . | fromYaml) (.Values.commonLabels | default dict)) }}
{{- end }}

{{/*
The metadata of an object, with the common labels and annotations. Takes a dict: context, name, namespace (none for an object
of the cluster), labels and annotations.
*/}}
{{- define "gpu-inventory-operator.metadata" -}}
{{- $own := include "gpu-inventory-operator.ownLabels" .context | fromYaml -}}
name: {{ .name | quote }}
{{- with .namespace }}
namespace: {{ . | quote }}
{{- end }}
labels:
  {{- toYaml (merge (dict) $own (.labels | default dict) (.context.Values.commonLabels | default dict)) | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) (.context.Values.commonAnnotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "gpu-inventory-operator.serviceAccountName" -}}
{{- default (include "gpu-inventory-operator.fullname" .) .Values.serviceAccount.name }}
{{- end }}

{{- define "gpu-inventory-operator.imagePullSecrets" -}}
{{- with concat (.Values.global.imagePullSecrets | default list) (.Values.imagePullSecrets | default list) | uniq -}}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "gpu-inventory-operator.image" -}}
{{- include "gpu-inventory-operator.imageOf" (dict "context" . "image" .Values.image) }}
{{- end }}

{{/* global.imageRegistry replaces the first part of a repository where that is a registry: it has a dot, a port or is localhost. */}}
{{- define "gpu-inventory-operator.imageOf" -}}
{{- $repository := .image.repository }}
{{- with .context.Values.global.imageRegistry }}
{{- $parts := splitList "/" $repository }}
{{- $first := first $parts }}
{{- if and (gt (len $parts) 1) (or (contains "." $first) (contains ":" $first) (eq $first "localhost")) }}
{{- $parts = rest $parts }}
{{- end }}
{{- $repository = printf "%s/%s" . (join "/" $parts) }}
{{- end }}
{{- if .image.digest }}
{{- printf "%s@%s" $repository .image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .context.Chart.AppVersion .image.tag) }}
{{- end }}
{{- end }}

{{/*
90% of the memory limit in bytes, or nothing where the limit cannot be read. The downward API can only give the whole limit,
which leaves no room for what the Go runtime does not count.
*/}}
{{- define "gpu-inventory-operator.goMemLimit" -}}
{{- $limit := dig "limits" "memory" "" (.Values.resources | default dict) }}
{{- if not (kindIs "string" $limit) }}
{{- $limit = int64 $limit | toString }}
{{- end }}
{{- $bytes := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 }}
{{- $number := regexFind "^[1-9][0-9]*" $limit }}
{{- $unit := trimPrefix $number $limit }}
{{- if and $number (hasKey $bytes $unit) }}
{{- div (mul $number (get $bytes $unit) 9) 10 }}
{{- end }}
{{- end }}
