import type { Note } from '@recordbus/pocketbase/collections';
import type { TranslatedRule } from '@recordbus/pocketbase/rules';

/** A record that was not taken, with the reasons by field. */
export interface RefusedRecord {
  readonly id: string;
  readonly reasons: Readonly<Record<string, string>>;
}

/** What became of a collection's records and files in this run. */
export interface MovedCollection {
  readonly from: string;
  readonly to: string;
  readonly type: string;
  /** How many records the source has. */
  readonly records: number;
  created: number;
  changed: number;
  deleted: number;
  unchanged: number;
  /** Records that were changed here since the last run, so this run left them as they are. */
  readonly kept_here: string[];
  refused: number;
  /** The first of them. */
  readonly refused_records: RefusedRecord[];
  /** Users' links to sign-in providers that are new here. */
  links: number;
  /** How many accounts stay signed in. */
  sessions_kept: number;
  files: number;
  file_bytes: number;
  files_missing: number;
  /** The first files that a record names and PocketBase's directory lacks. */
  readonly missing_files: string[];
}

/** Values of one field that are not taken as they are. */
export interface LostValues {
  readonly collection: string;
  readonly field: string;
  readonly what: string;
  readonly count: number;
  /** The first of them. */
  readonly examples: readonly string[];
}

/** What a run did, or would do. */
export interface MoveReport {
  readonly product: 'pocketbase';
  readonly source: string;
  readonly target: string;
  readonly dry_run: boolean;
  /** Whether no run took any of the collections before. */
  readonly is_first_run: boolean;
  readonly started: string;
  seconds: number;
  /** How many changes the schema gets. */
  readonly schema_changes: number;
  readonly collections: MovedCollection[];
  readonly rules: readonly TranslatedRule[];
  readonly notes: Note[];
  readonly lost_values: LostValues[];
  /** The addresses of superusers that are admins here. */
  readonly admins: string[];
  readonly not_taken: string[];
}

/** Lists of examples and refused records end here, so that a report can be read and sent. */
export const maxListed = 200;

/** A report's summary in lines, for the terminal. */
export function summaryOf(report: MoveReport): string {
  const sum = (pick: (collection: MovedCollection) => number) =>
    report.collections.reduce((n, one) => n + pick(one), 0);
  const locked = report.rules.filter(({ result }) => result === 'locked');
  const narrower = report.rules.filter(({ result }) => result === 'narrower').length;
  const counts = [
    counted(report.schema_changes, 'schema changes'),
    ...([...counters, 'files', 'links'] as const).map((name) =>
      counted(
        sum((one) => one[name]),
        name,
      ),
    ),
    counted(report.admins.length, 'admins'),
  ].filter((text) => text !== '');
  const unchanged = sum((one) => one.unchanged);
  const rest = `${inWords(unchanged, 'records')} unchanged`;
  const lines = [
    hasWork(report)
      ? `${report.dry_run ? 'To do' : `Done in ${report.seconds} s`}: ${counts.join(', ')}; ${rest}.`
      : `Nothing to do: ${rest}.`,
    ...report.collections.map(lineOf),
    '',
    ...(report.rules.length > 0
      ? [
          `Rules: ${report.rules.length - locked.length - narrower} exact, ${narrower} narrower, ${locked.length} locked.`,
        ]
      : []),
    ...locked.map(
      ({ collection, rule, from, why }) => `  locked ${collection}.${rule}: ${JSON.stringify(from)} (${why ?? ''})`,
    ),
    ...report.notes.map(
      ({ collection, field, kind, text }) =>
        `  ${kind.replace('_', ' ')} ${collection}${field === undefined ? '' : `.${field}`}: ${text}`,
    ),
    ...report.lost_values.map(({ collection, field, what, count }) => `  ${collection}.${field}: ${count} × ${what}`),
    ...report.admins.map((email) => `  admin: ${email}`),
    ...report.not_taken.map((what) => `  not taken: ${what}`),
  ];
  return lines.join('\n');
}

const counters = ['created', 'changed', 'deleted', 'refused'] as const;

const counted = (count: number, what: string): string => (count > 0 ? inWords(count, what) : '');

/** A count with its noun, given in the plural. */
const inWords = (count: number, nouns: string): string => `${count} ${count === 1 ? nouns.replace(/s$/, '') : nouns}`;

/** Whether a run changes something, or tried to. */
export const hasWork = ({ schema_changes: changes, collections, admins }: MoveReport): boolean =>
  changes + admins.length > 0 ||
  collections.some((one) => one.files + one.links > 0 || counters.some((name) => one[name] > 0));

function lineOf(moved: MovedCollection): string {
  const parts = [
    inWords(moved.records, 'records'),
    ...([...counters, 'unchanged'] as const).flatMap((name) => counted(moved[name], name) || []),
    ...(moved.kept_here.length > 0 ? [`${moved.kept_here.length} kept, since they were changed here`] : []),
    ...(moved.links > 0 ? [`${inWords(moved.links, 'links')} to sign-in providers`] : []),
    ...(moved.sessions_kept > 0 ? [`sessions kept: ${inWords(moved.sessions_kept, 'accounts')}`] : []),
    ...(moved.files > 0 ? [inWords(moved.files, 'files')] : []),
    ...(moved.files_missing > 0 ? [`${inWords(moved.files_missing, 'files')} missing`] : []),
  ];
  const name = moved.from === moved.to ? moved.to : `${moved.from} → ${moved.to}`;
  const refused = moved.refused_records.slice(0, 5).map(
    ({ id, reasons }) =>
      `\n    ${id}: ${Object.entries(reasons)
        .map(([at, why]) => `${at} ${why}`)
        .join(', ')}`,
  );
  return `  ${name}: ${parts.join(', ')}${refused.join('')}`;
}
