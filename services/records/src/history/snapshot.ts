import type { Query } from '@recordbus/database';
import { notFound } from '@recordbus/errors';
import { snapshotFields } from '@recordbus/journal';
import { type Collection, type Field, perCollection } from '@recordbus/schema';
import { writtenSeconds } from '@recordbus/text/date-text';
import { lastOfSecond, type Version } from '../record/version.ts';
import { composeFindSnapshot } from './restore-sql.ts';

/** Which version of a record to find. */
export interface VersionQuery {
  /** The record's id. */
  readonly id: string;
  /** Finds the last version up to this one. */
  readonly upTo: Version;
  /** Whether only `upTo` itself will do. */
  readonly isExact: boolean;
}

/** A version in the history. */
export interface Snapshot extends Version {
  readonly record: Readonly<Record<string, unknown>>;
  /** The fields that it has, by id. */
  readonly fieldIds: readonly string[];
}

/** A field to restore, and its value in the snapshot, which is encrypted for an encrypted field. */
export interface RestoredField {
  readonly field: Field;
  readonly value: unknown;
}

const compiled = perCollection(composeFindSnapshot);

/** Finds a record's version. Throws 404 when the history lacks it. */
export async function findSnapshot(
  query: Query,
  collection: Collection,
  { id, upTo, isExact }: VersionQuery,
): Promise<Snapshot> {
  const values = [id, upTo.atSec, upTo.revision];
  const [snapshot] = await query<Snapshot>({ text: compiled(collection), values });
  // An erased version has no fields.
  if (!snapshot || snapshot.fieldIds.length === 0 || (isExact && !isSame(snapshot, upTo))) throw notFound('snapshot');
  return snapshot;
}

/** Finds a record's last version in the history. Throws 404 without any. */
export const findLastSnapshot = (query: Query, collection: Collection, id: string): Promise<Snapshot> =>
  findSnapshot(query, collection, { id, upTo: lastOfSecond(Number.MAX_SAFE_INTEGER), isExact: false });

const isSame = (a: Version, b: Version): boolean => a.atSec === b.atSec && a.revision === b.revision;

/** The fields to restore: those that the snapshot has, without lost files. */
export function findRestoredFields(
  collection: Collection,
  { fieldIds, record }: Snapshot,
  lost: ReadonlySet<string>,
): RestoredField[] {
  const known = new Set(fieldIds);
  return snapshotFields(collection)
    .filter(({ id }) => known.has(id))
    .map((field) => ({ field, value: restoredValue(field, record[field.name], lost) }))
    .filter(({ value }) => value !== undefined);
}

/** The value as a write takes it. */
function restoredValue({ type }: Field, value: unknown, lost: ReadonlySet<string>): unknown {
  if (type === 'date' && typeof value === 'number') return writtenSeconds(value);
  return type === 'file' ? withoutLost(value, lost) : value;
}

const withoutLost = (value: unknown, lost: ReadonlySet<string>): unknown => {
  if (Array.isArray(value)) return value.filter((name) => !lost.has(name));
  return typeof value === 'string' && lost.has(value) ? undefined : value;
};
