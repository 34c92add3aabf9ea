{{- define "router.name" -}}{{ printf "%s-epp" (.Release.Name | trunc 40) }}{{- end -}}
{{- define "router.labels" -}}
app.kubernetes.io/name: {{ include "router.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.Version | quote }}
{{- end -}}
{{- define "router.meta" -}}
name: {{ include "router.name" . }}
namespace: {{ .Release.Namespace }}
labels: {{- include "router.labels" . | nindent 2 }}
{{- end -}}
