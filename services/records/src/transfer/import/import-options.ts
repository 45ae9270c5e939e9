import { malformedParameter, validationFailed } from '@recordbus/errors';
import { flag } from '@recordbus/http';
import { type Collection, fieldTypeOf } from '@recordbus/schema';
import type { NumericDates } from '@recordbus/text/date-text';
import { z } from 'zod';
import type { Call } from '../../rules/rule-context.ts';
import { readKeyFields } from '../../write/record-key.ts';
import { type Format, formats } from '../formats/source-row.ts';
import { encodings } from '../formats/to-utf8.ts';

const modes = ['insert', 'upsert', 'skip'] as const;
const keepable = ['id', 'created', 'updated', 'files'] as const;
const dateOrders = ['iso', 'mdy', 'dmy'] as const;
type Keepable = (typeof keepable)[number];

const maxListLength = 1000;

/** An import's parameters. Unknown parameters are refused by name, so a misspelt one is not ignored silently. */
export const importQuery = z.looseObject({
  format: z.enum(formats).optional().describe("the body's format; by default its content type's"),
  mode: z
    .enum(modes)
    .default('insert')
    .describe('what happens to a row whose record exists: it is refused, changes the record, or is skipped'),
  on: z
    .string()
    .max(maxListLength)
    .optional()
    .describe('id, or unique fields separated by commas, by which upsert and skip find the record; id by default'),
  dry_run: flag.describe('check everything, write nothing'),
  map: z
    .string()
    .max(1_000_000)
    .optional()
    .describe('a JSON object from columns or members to fields; null leaves one out'),
  keep: z
    .string()
    .max(maxListLength)
    .optional()
    .describe('which of id, created, updated and files (their names) records take from the body'),
  separator: z.string().max(8).optional().describe('for CSV: the cell separator; found in the first line by default'),
  encoding: z.enum(encodings).optional().describe('body encoding; utf-8 by default'),
  null: z
    .string()
    .max(maxListLength)
    .optional()
    .describe('for CSV: the unquoted cell that means null; empty by default'),
  dates: z
    .enum(dateOrders)
    .optional()
    .describe('numeric dates in the body: iso (2026-01-31), mdy (01/31/2026) or dmy (31.01.2026); iso by default'),
  events: z.literal('none').optional().describe('no events; audited'),
  upload: z
    .uuid()
    .optional()
    .describe('id of an earlier import whose body is used again; then the request has no body'),
});
export type ImportQuery = z.output<typeof importQuery>;

/** An import's options, stored in its job. */
export interface ImportOptions {
  readonly format: Format;
  readonly mode: (typeof modes)[number];
  /** The fields by which records are found; undefined for the id. */
  readonly on: readonly string[] | undefined;
  readonly isDryRun: boolean;
  /** Field names by columns or members; null leaves one out. */
  readonly map: Readonly<Record<string, string | null>>;
  readonly keep: readonly Keepable[];
  readonly separator: string;
  /** In which order numeric dates are; an earlier version's job has none, which is `iso`. */
  readonly dates?: (typeof dateOrders)[number] | undefined;
  readonly nullText: string;
  readonly isSilent: boolean;
  /** The CSV columns. */
  readonly columns: readonly string[];
  /** The first row's position. */
  readonly start: number;
  /** The request's parameters. */
  readonly shown: Readonly<Record<string, unknown>>;
}

/** A request's options. Its body has the others. */
export type RequestedOptions = Omit<ImportOptions, 'columns' | 'start' | 'separator'> & {
  readonly separator: string | undefined;
};

/** Reads an import's options before its body. Throws 400 and 422 naming the parameter. */
export function readImportOptions(
  query: ImportQuery,
  collection: Collection,
  { contentType, call }: { readonly contentType: string | undefined; readonly call: Call },
): RequestedOptions {
  const unknown = Object.keys(query).filter((name) => !(name in importQuery.shape));
  if (unknown.length > 0)
    throw validationFailed(Object.fromEntries(unknown.map((name) => [name, 'is not an import parameter'])));
  const format = query.format ?? formatOf(contentType);
  if (!format) throw malformedParameter('format', `is required: one of ${formats.join(', ')}`);
  refuseMismatch(format, query.format, contentType);
  if (format !== 'csv')
    for (const name of ['separator', 'null'] as const)
      if (query[name] !== undefined) throw malformedParameter(name, 'is only for CSV');
  const { mode } = query;
  if (mode === 'insert' && query.on !== undefined) throw malformedParameter('on', 'is only for upsert and skip');
  const fields = query.on === undefined || query.on === 'id' ? undefined : readKeyFields(collection, query.on, call);
  const shown = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
  return {
    format,
    mode,
    on: fields?.map(({ name }) => name),
    isDryRun: query.dry_run === true,
    map: readMap(query.map, collection, format),
    keep: readKeep(query.keep),
    separator: readSeparator(query.separator),
    nullText: query.null ?? '',
    dates: query.dates,
    isSilent: query.events === 'none',
    shown: { ...shown, format },
  };
}

/** The formats by content type. Other types, such as a form's, leave the format open. */
const formatsByType: Readonly<Record<string, Format>> = {
  'text/csv': 'csv',
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
};

const formatOf = (contentType = ''): Format | undefined =>
  formatsByType[contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''];

function refuseMismatch(format: Format, named: Format | undefined, contentType: string | undefined): void {
  const ofType = formatOf(contentType);
  // Many clients send JSON lines as application/json.
  if (named === undefined || ofType === undefined || ofType === format || (format === 'ndjson' && ofType === 'json'))
    return;
  throw validationFailed({ format: `is ${format}, but the body's content type is ${ofType}'s` });
}

function readMap(text: string | undefined, collection: Collection, format: Format): ImportOptions['map'] {
  if (text === undefined) return {};
  let map: unknown;
  try {
    map = JSON.parse(text);
  } catch {
    throw malformedParameter('map', 'must be a JSON object');
  }
  if (typeof map !== 'object' || map === null || Array.isArray(map))
    throw malformedParameter('map', 'must be a JSON object');
  const known = targetNames(collection);
  const problems = new Map<string, string>();
  const taken = new Set<string>();
  for (const [column, name] of Object.entries(map)) {
    if (name === null) continue;
    if (typeof name !== 'string') problems.set(column, 'must be mapped to a field name, or null');
    else if (!known.has(name))
      problems.set(column, `is mapped to ${name.slice(0, 100)}, which is not a field of ${collection.name}`);
    else if (taken.has(name)) problems.set(column, `is mapped to ${name}, like another one`);
    else taken.add(name);
  }
  if (problems.size > 0) throw validationFailed(Object.fromEntries(problems));
  // CSV column names have no spaces around them.
  const entries = Object.entries(map).map(
    ([column, name]) => [format === 'csv' ? column.trim() : column, name] as const,
  );
  return Object.fromEntries(entries) as ImportOptions['map'];
}

/** Members that the server sets. A body may have them. */
const serverSet = ['id', 'created', 'updated', 'expand'];

/** The names that columns and members may have. */
export const targetNames = (collection: Collection): ReadonlySet<string> =>
  new Set([
    ...serverSet,
    ...(collection.type === 'auth' ? ['anonymous', 'password'] : []),
    ...collection.fields.map(({ name }) => name),
  ]);

function readKeep(text: string | undefined): readonly Keepable[] {
  const names = (text ?? '').split(',').flatMap((name) => name.trim() || []);
  const unknown = names.find((name) => !keepable.some((known) => known === name));
  if (unknown !== undefined) throw malformedParameter('keep', `may have ${keepable.join(', ')}`);
  return keepable.filter((known) => names.includes(known));
}

function readSeparator(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const isOne = [...text].length === 1 && !/["\r\n\0]/.test(text) && text.isWellFormed();
  if (!isOne) throw malformedParameter('separator', 'must be one character, and neither a quote nor a line end');
  return text;
}

/** The numeric dates that an import's rows may have, in addition to ISO 8601 dates. */
export const numericDatesOf = ({ dates = 'iso' }: Pick<ImportOptions, 'dates'>): NumericDates =>
  dates === 'iso' ? 'none' : dates;

/** Whether new records get the ids in the body. */
export const isPlaced = ({ mode, on, keep }: Pick<ImportOptions, 'mode' | 'on' | 'keep'>): boolean =>
  keep.includes('id') || (mode !== 'insert' && on === undefined);

/** A collection's relations to itself. Only their targets may come later in the same body. */
export const ownRelations = (collection: Collection) =>
  collection.fields.filter((field) => field.collection === collection.name && fieldTypeOf(field).refersToCollection);
