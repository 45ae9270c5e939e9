import type { MetricFamily } from './read-metrics.ts';

/** The content type for Prometheus's text format, version 0.0.4. */
export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

/** Formats families as text for Prometheus; those without a sample are omitted. */
export const exposition = (families: readonly MetricFamily[]): string =>
  families
    .filter(({ samples }) => samples.length > 0)
    .map(
      ({ name, help, type, samples }) =>
        `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${samples.map(toLine).join('')}`,
    )
    .join('');

function toLine({ name, labels, value }: MetricFamily['samples'][number]): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`;
}

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');
