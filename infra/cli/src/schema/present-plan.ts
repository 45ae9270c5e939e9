import type { Plan } from './schema-target.ts';

type Change = Plan['changes'][number];

const signs: Readonly<Record<Change['action'], string>> = {
  create: '+',
  rename: '>',
  change: '~',
  drop: '-',
  run: '*',
};

interface Places {
  /** The stack. */
  readonly target: string;
  /** The plan file, if there is one. */
  readonly file: string | undefined;
}

/** Returns a plan in readable form, like a diff. */
export function presentPlan({ changes, drops, locks, warnings }: Plan, { target, file }: Places): string {
  if (changes.length === 0)
    return [`Nothing to do: ${target} has this schema.`, ...listOf('Warnings', warnings)].join('\n');
  const allow = drops.map((name) => ` --allow-drop ${quoted(name)}`).join('');
  return [
    `${counted(changes.length, 'change')} to ${target}:`,
    ...changes.flatMap(presentChange),
    ...listOf('Locks, until the apply ends', locks.map(presentLock)),
    ...listOf('Warnings', warnings),
    ...(file === undefined ? [] : ['', `To apply: schema apply ${quoted(file)}${allow}`]),
  ].join('\n');
}

/** Returns the lines for one change. */
export function presentChange({ action, kind, name, from, changed = [], records, values }: Change): string[] {
  const lost = records === undefined ? lostOf(values, 'value') : lostOf(records, 'record');
  const was = from === undefined ? '' : `, before ${shown(from)}`;
  return [
    `${signs[action]} ${kind} ${shown(name)}${was}${lost}`,
    ...changed.map(({ member, before, after }) => `    ${member}: ${textOf(before)} → ${textOf(after)}`),
  ];
}

function lostOf(count: number | null | undefined, what: string): string {
  if (count === undefined) return '';
  return count === null ? ` (loses ${what}s; counting took too long)` : ` (loses ${counted(count, what)})`;
}

const presentLock = ({ collection, waits, reasons, rewrites, records }: Plan['locks'][number]): string =>
  `${collection}: ${waits} wait (${reasons.join(', ')}); ${
    records === null ? 'many records' : counted(records, 'record')
  }${rewrites ? ', each written again' : ''}`;

const listOf = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const longestText = 200;

function textOf(value: unknown): string {
  const text = JSON.stringify(value) ?? 'none';
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}

/** A name with characters that a terminal may act on is shown as JSON. */
const shown = (name: string): string => (/^[\w.:<>/ -]+$/.test(name) ? name : JSON.stringify(name));

/** Quotes a name for a shell. */
export const quoted = (name: string): string =>
  /^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`;
