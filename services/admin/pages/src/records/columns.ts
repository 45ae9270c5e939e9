import type { CollectionDefinition } from '@recordbus/client';
import { columnsOf } from './values.ts';

const keyOf = (collection: CollectionDefinition): string => `recordbus-columns-${collection.id}`;

/** As many columns as a wide window shows, until others are chosen. */
const usualCount = 7;

/** The names of the columns that are shown until others are chosen. */
export function usualColumns(collection: CollectionDefinition): string[] {
  const known = columnsOf(collection).map(({ name }) => name);
  const fields = known.filter((name) => name !== 'created' && name !== 'updated');
  return [...fields.slice(0, usualCount), ...known.filter((name) => name === 'updated')];
}

/** Returns the names of the chosen columns, which this browser keeps for each collection. */
export function readColumns(collection: CollectionDefinition): string[] {
  const known = columnsOf(collection).map(({ name }) => name);
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(collection)) ?? 'null');
    if (Array.isArray(kept)) return known.filter((name) => kept.includes(name));
  } catch {
    // An unreadable choice counts as none.
  }
  return usualColumns(collection);
}

/** Keeps the chosen columns. */
export const keepColumns = (collection: CollectionDefinition, names: readonly string[]): void =>
  localStorage.setItem(keyOf(collection), JSON.stringify(names));

/** More columns than these are not named one by one in the address of a request. */
const maxNamed = 40;

/** Returns the members of records that a grid with these columns reads; undefined for all. */
export function membersFor(collection: CollectionDefinition, columns: readonly string[]): string[] | undefined {
  const own = collection.type === 'view' ? ['id'] : ['id', 'updated'];
  if (columns.length > maxNamed) return undefined;
  // Another admin may have dropped a field meanwhile.
  const known = columnsOf(collection).map(({ name }) => name);
  return [...new Set([...own, ...known.filter((name) => columns.includes(name))])];
}
