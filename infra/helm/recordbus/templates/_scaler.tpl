{{/* What scales a service: a KEDA ScaledObject, or a HorizontalPodAutoscaler. */}}
{{- define "recordbus.scaler" -}}
{{- $root := index . 0 -}}
{{- $name := include "recordbus.name" (list $root (index . 1)) -}}
{{- $scaling := index . 2 -}}
{{- $labels := include "recordbus.labels" (list $root (index . 1)) }}
{{- if $root.Values.keda.enabled }}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ $name }}
  labels:
    {{- $labels | nindent 4 }}
spec:
  scaleTargetRef:
    name: {{ $name }}
  minReplicaCount: {{ $scaling.min }}
  maxReplicaCount: {{ $scaling.max }}
  advanced:
    horizontalPodAutoscalerConfig:
      behavior:
        {{- include "recordbus.scalingBehavior" . | nindent 8 }}
  triggers:
    - type: cpu
      metricType: Utilization
      metadata:
        value: {{ $scaling.cpuPercent | quote }}
    {{- with $scaling.memory }}
    - type: memory
      metricType: AverageValue
      metadata:
        value: {{ . | quote }}
    {{- end }}
    {{- with $scaling.streamLag }}
    - type: nats-jetstream
      metadata:
        natsServerMonitoringEndpoint: {{ include "recordbus.natsMonitoring" $root | quote }}
        account: "$G"
        stream: EVENTS
        consumer: webhooks
        lagThreshold: {{ . | quote }}
    {{- end }}
{{- else }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $name }}
  labels:
    {{- $labels | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ $name }}
  minReplicas: {{ $scaling.min }}
  maxReplicas: {{ $scaling.max }}
  behavior:
    {{- include "recordbus.scalingBehavior" . | nindent 4 }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ $scaling.cpuPercent }}
    {{- with $scaling.memory }}
    - type: Resource
      resource:
        name: memory
        target:
          type: AverageValue
          averageValue: {{ . }}
    {{- end }}
{{- end }}
{{- end }}

{{/* When a realtime pod goes, its clients connect again elsewhere, so pods go one at a time. */}}
{{- define "recordbus.scalingBehavior" -}}
scaleDown:
  stabilizationWindowSeconds: {{ ternary 600 300 (eq (index . 1) "realtime") }}
  policies:
    - { type: Pods, value: 1, periodSeconds: {{ ternary 300 60 (eq (index . 1) "realtime") }} }
{{- end }}

{{- define "recordbus.natsMonitoring" -}}
{{- if .Values.keda.natsMonitoring }}{{ .Values.keda.natsMonitoring -}}
{{- else if .Values.nats.enabled }}{{ include "recordbus.name" (list . "nats") }}.{{ .Release.Namespace }}.svc.cluster.local:8222
{{- else }}{{ fail "Set keda.natsMonitoring, the monitoring address of NATS: KEDA reads the lag of the stream there." }}
{{- end -}}
{{- end }}
