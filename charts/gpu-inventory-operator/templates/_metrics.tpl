{{/* The Secret with the certificate of the metrics, or nothing: self-signed, or no TLS. */}}
{{- define "gpu-inventory-operator.certificateSecret" -}}
{{- with .Values.metrics.certificate }}
{{- if .certManager.enabled }}
{{- printf "%s-tls" (include "gpu-inventory-operator.metricsName" $) }}
{{- else }}
{{- .secretName }}
{{- end }}
{{- end }}
{{- end }}

{{/* The DNS name by which the certificate is checked. */}}
{{- define "gpu-inventory-operator.metricsHost" -}}
{{- printf "%s.%s.svc" (include "gpu-inventory-operator.metricsName" .) (include "gpu-inventory-operator.namespace" .) }}
{{- end }}

{{/* The endpoint of a ServiceMonitor or a PodMonitor. Takes a dict: context, and monitor with its values. */}}
{{- define "gpu-inventory-operator.endpoint" -}}
{{- $metrics := .context.Values.metrics -}}
port: metrics
path: /metrics
scheme: {{ $metrics.secure | ternary "https" "http" }}
honorLabels: {{ .monitor.honorLabels }}
{{- with .monitor.interval }}
interval: {{ . }}
{{- end }}
{{- with .monitor.scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- with .monitor.authorization }}
authorization:
  {{- toYaml . | nindent 2 }}
{{- else }}
{{- if $metrics.secure }}
bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
{{- end }}
{{- end }}
{{- with .monitor.tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- else }}
{{- if $metrics.secure }}
tlsConfig:
  {{- with include "gpu-inventory-operator.certificateSecret" .context }}
  ca:
    secret:
      name: {{ . | quote }}
      key: ca.crt
  serverName: {{ include "gpu-inventory-operator.metricsHost" $.context | quote }}
  {{- else }}
  # The operator makes a self-signed certificate at each start: there is no CA to check it by. Set metrics.certificate for one.
  insecureSkipVerify: true
  {{- end }}
{{- end }}
{{- end }}
{{- with .monitor.relabelings }}
relabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .monitor.metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
