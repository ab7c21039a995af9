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

{{- define "gpu-inventory-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "gpu-inventory-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "gpu-inventory-operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "gpu-inventory-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: gpu-inventory-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "gpu-inventory-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "gpu-inventory-operator.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "gpu-inventory-operator.image" -}}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{/*
90% of the memory limit in bytes, or nothing where the limit cannot be read. The downward API can only give the whole limit,
which leaves no room for what the Go runtime does not count.
*/}}
{{- define "gpu-inventory-operator.goMemLimit" -}}
{{- $limit := dig "limits" "memory" "" .Values.resources }}
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
