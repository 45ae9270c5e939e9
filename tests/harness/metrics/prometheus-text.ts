import assert from 'node:assert/strict';

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const labelPair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;
const types = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];

/**
 * Parses Prometheus' text format 0.0.4 strictly: every family once, with HELP and TYPE before its samples, no duplicate
 * series, consistent histogram buckets. Throws an assertion error otherwise.
 */
export function parsePrometheusText(text: string): ReadonlyMap<string, Family> {
  assert.ok(text.endsWith('\n'), 'the last line has no line break');
  const families = new Map<string, Family & { readonly samples: Sample[] }>();
  const series = new Set<string>();
  let current: (Family & { readonly samples: Sample[] }) | undefined;
  let help: readonly [name: string, text: string] | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      assert.ok(metricName.test(name) && rest !== '', line);
      help = [name, rest];
    } else if (keyword === 'TYPE') {
      assert.equal(help?.[0], name, `HELP is missing before ${line}`);
      assert.ok(types.includes(rest), line);
      assert.ok(!families.has(name), `${name} is duplicated`);
      current = { name, help: help?.[1] ?? '', type: rest, samples: [] };
      families.set(name, current);
    } else {
      const sample = parseSample(line);
      assert.ok(current && belongsTo(sample.name, current), `${line} does not belong to ${current?.name}`);
      const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`;
      assert.ok(!series.has(key), `the series ${key} is duplicated`);
      series.add(key);
      current.samples.push(sample);
    }
  }
  for (const family of families.values()) if (family.type === 'histogram') checkHistogram(family);
  return families;
}

function parseSample(line: string): Sample {
  const [, name = '', pairs = '', number = ''] = sampleLine.exec(line) ?? [];
  assert.ok(name, `not a sample: ${line}`);
  const labels: Record<string, string> = {};
  labelPair.lastIndex = 0;
  while (labelPair.lastIndex < pairs.length) {
    const [, label = '', value = ''] = labelPair.exec(pairs) ?? [];
    assert.ok(label && !Object.hasOwn(labels, label), `bad labels: ${line}`);
    labels[label] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  assert.ok(!Number.isNaN(value), `not a number: ${line}`);
  return { name, labels, value };
}

const belongsTo = (sample: string, { name, type }: Family): boolean =>
  type === 'histogram' ? ['_bucket', '_sum', '_count'].some((part) => sample === name + part) : sample === name;

function checkHistogram({ name, samples }: Family): void {
  const groups = Map.groupBy(samples, ({ labels: { le, ...others } }) => JSON.stringify(Object.entries(others).sort()));
  for (const [labels, group] of groups) {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels: { le = '' } }) => (le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le)));
    assert.ok(isAscending(bounds) && bounds.at(-1) === Number.POSITIVE_INFINITY, `the bounds of ${name}${labels}`);
    assert.ok(isAscending(buckets.map(({ value }) => value)), `the buckets of ${name}${labels} do not add up`);
    const counts = group.filter((sample) => sample.name === `${name}_count`);
    assert.equal(counts.length, 1);
    assert.equal(counts[0]?.value, buckets.at(-1)?.value, `the count of ${name}${labels}`);
    assert.equal(group.filter((sample) => sample.name === `${name}_sum`).length, 1);
  }
}

const isAscending = (numbers: readonly number[]): boolean =>
  numbers.every((number, index) => index === 0 || number >= (numbers[index - 1] ?? 0));

const abbreviations = ['s', 'ms', 'us', 'ns', 'sec', 'b', 'kb', 'mb', 'gb', 'm', 'h', 'd'];
const otherThanBase = [
  'milliseconds',
  'microseconds',
  'nanoseconds',
  'minutes',
  'hours',
  'days',
  'kilobytes',
  'percent',
];

/** Returns the problems that Prometheus' linter (`promtool check metrics`) reports about names. */
export const lint = (families: ReadonlyMap<string, Family>): string[] =>
  [...families.values()].flatMap(({ name, type, samples }) => {
    const parts = name.split('_');
    const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
    return [
      ...(type === 'counter' && !name.endsWith('_total') ? ['a counter without _total'] : []),
      ...(type !== 'counter' && name.endsWith('_total') ? ['_total without a counter'] : []),
      ...(/_(count|sum|bucket)$/.test(name) ? ['the suffix of a histogram'] : []),
      ...(type !== 'histogram' && labels.has('le') ? ['le without a histogram'] : []),
      ...(parts.includes(type) ? ['its type in its name'] : []),
      ...(/[A-Z:]/.test(name) || [...labels].some((label) => /[A-Z]/.test(label)) ? ['not snake_case'] : []),
      ...parts.filter((part) => abbreviations.includes(part)).map((part) => `the abbreviation ${part}`),
      ...parts.filter((part) => otherThanBase.includes(part)).map((part) => `${part} is not a base unit`),
    ].map((complaint) => `${name}: ${complaint}`);
  });
