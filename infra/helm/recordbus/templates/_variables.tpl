{{/* One service's variables: the addresses that it calls, and the chart's own database. */}}
{{- define "recordbus.ownVariables" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $called := dict "gateway" (list "auth" "records" "admin" "webhooks" "realtime") "auth" (list "records") "records" (list "gateway") "realtime" (list "records") -}}
{{- $services := get $called $name | default list -}}
{{- if or $services $root.Values.postgresql.enabled -}}
env:
  {{- range $services }}
  - name: SERVICE_{{ upper . }}_URL
    value: http://{{ include "recordbus.name" (list $root .) }}:8080
  {{- end }}
  {{- if $root.Values.postgresql.enabled }}
  {{- include "recordbus.ownDatabase" $root | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* The chart's own database address. CloudNativePG creates the Secret. */}}
{{- define "recordbus.ownDatabase" -}}
- name: SERVICE_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ include "recordbus.name" (list . "postgresql") }}-app
      key: uri
{{- end }}
