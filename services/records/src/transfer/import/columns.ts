import { validationFailed } from '@recordbus/errors';
import { findJsonExcess } from '@recordbus/http';
import type { Collection } from '@recordbus/schema';
import { readDateValue, writtenSeconds } from '@recordbus/text/date-text';
import { type Cell, cellsOf } from '../cells.ts';
import type { SourceRow } from '../formats/source-row.ts';
import { type ImportOptions, numericDatesOf, targetNames } from './import-options.ts';

/** The column that the answer with refused rows adds. A corrected file may still contain it. */
export const refusalColumn = '_refused';

type Naming = Pick<ImportOptions, 'map'>;

/** The field that a column or member names; undefined if it is left out. */
function targetOf(name: string, { map }: Naming): string | undefined {
  if (Object.hasOwn(map, name)) return map[name] ?? undefined;
  return name === refusalColumn ? undefined : name;
}

/** Throws 422 naming each column or member that is not a field, and each field that two of them name. */
export function refuseUnknownColumns(names: readonly string[], options: Naming, collection: Collection): void {
  const known = targetNames(collection);
  const problems = new Map<string, string>();
  const taken = new Map<string, string>();
  for (const name of names) {
    const target = targetOf(name, options);
    const shown = name.slice(0, 100);
    if (target === undefined) continue;
    if (!known.has(target)) problems.set(shown, `is not a field of ${collection.name}`);
    else if (taken.has(target)) problems.set(shown, `is ${target}, like another column`);
    else taken.set(target, name);
    if (problems.size >= maxProblems) break;
  }
  if (problems.size > 0) throw validationFailed(Object.fromEntries(problems));
}

/** A body with thousands of wrong columns is the wrong body. */
const maxProblems = 100;

/** Returns the body for a row's write. Throws 422 for a cell that cannot be read. */
export type ReadBody = (row: SourceRow) => Readonly<Record<string, unknown>>;

/** Creates the row reader, which maps names to fields, and for CSV also cells to values. */
export function createReadBody(options: ImportOptions, collection: Collection): ReadBody {
  const cells = options.format === 'csv' ? cellsOf(collection) : undefined;
  const targets = new Map<string, string | undefined>();
  const findTarget = (name: string): string | undefined => {
    // JSON members differ from row to row, so their names are not cached.
    if (!cells) return targetOf(name, options);
    if (!targets.has(name)) targets.set(name, targetOf(name, options));
    return targets.get(name);
  };
  const dates = new Set(collection.fields.filter(({ type }) => type === 'date').map(({ name }) => name));
  return ({ members }) => {
    const body = new Map<string, unknown>();
    const problems = new Map<string, string>();
    for (const [name, given] of Object.entries(members)) {
      const target = findTarget(name);
      if (target === undefined) continue;
      const value = cells ? valueOfCell(cells.get(target), given, target) : given;
      // A single write reads dates in one order only.
      const read = dates.has(target) && isText(value) ? readDateValue(value, numericDatesOf(options)) : undefined;
      if (typeof read === 'string') problems.set(target, read);
      body.set(target, typeof read === 'number' ? writtenSeconds(read) : value);
    }
    if (problems.size > 0) throw validationFailed(Object.fromEntries(problems));
    return Object.fromEntries(body);
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** A cell's value. Throws 422 for JSON that is too costly to parse (http §2.1). */
function valueOfCell(cell: Cell | undefined, text: unknown, name: string): unknown {
  if (typeof text !== 'string') return null;
  const excess = /^[[{]/.test(text) ? findJsonExcess(Buffer.from(text)) : undefined;
  if (excess) throw validationFailed({ [name]: excess });
  return cell ? cell.read(text) : text;
}
