{{- define "bds.name" -}}
{{- $name := ternary .Release.Name (printf "%s-bds" .Release.Name) (contains "bds" .Release.Name) }}{{ $name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "bds.selector" -}}
app.kubernetes.io/name: bds
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "bds.labels" -}}
{{ include "bds.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}
