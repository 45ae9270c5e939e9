{{- define "recordbus.part" -}}
app.kubernetes.io/part-of: recordbus
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* One service's labels. Takes a list with the root and the name. */}}
{{- define "recordbus.labels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ index . 1 }}
{{ include "recordbus.part" $root }}
{{- end }}

{{- define "recordbus.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* All parts' names begin with the release's name, except in the release "recordbus". */}}
{{- define "recordbus.name" -}}
{{- $root := index . 0 -}}
{{- if eq $root.Release.Name "recordbus" }}{{ index . 1 }}{{ else }}{{ printf "%s-%s" $root.Release.Name (index . 1) | trunc 50 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{- define "recordbus.configMap" -}}
{{ include "recordbus.name" (list . "config") }}
{{- end }}

{{- define "recordbus.secret" -}}
{{ .Values.secret.existingName | default (include "recordbus.name" (list . "secrets")) }}
{{- end }}

{{- define "recordbus.natsPassword" -}}
{{- $found := lookup "v1" "Secret" .Release.Namespace (include "recordbus.name" (list . "nats")) -}}
{{- if $found }}{{ $found.data.password | b64dec }}{{ else }}{{ randAlphaNum 32 }}{{ end -}}
{{- end }}

{{/* Every container's variables: from the ConfigMap, the Secret, and the chart's own servers. */}}
{{- define "recordbus.environment" -}}
envFrom:
  - configMapRef:
      name: {{ include "recordbus.configMap" . }}
  - secretRef:
      name: {{ include "recordbus.secret" . }}
  {{- if .Values.nats.enabled }}
  - secretRef:
      name: {{ include "recordbus.name" (list . "nats-url") }}
  {{- end }}
{{- end }}

{{- define "recordbus.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "recordbus.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}
