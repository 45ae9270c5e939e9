import type { CollectionDefinition } from '@recordbus/client';
import { columnsOf } from './values.ts';

const keyOf = (collection: CollectionDefinition): string => `recordbus-columns-${collection.id}`;

/** How many columns to show by default: as many as a wide window fits. */
const defaultCount = 7;

/** Returns the columns to show by default. */
export function defaultColumns(collection: CollectionDefinition): string[] {
  const known = columnsOf(collection).map(({ name }) => name);
  const fields = known.filter((name) => name !== 'created' && name !== 'updated');
  return [...fields.slice(0, defaultCount), ...known.filter((name) => name === 'updated')];
}

/** Returns a collection's chosen columns, as this browser remembers them. */
export function readColumns(collection: CollectionDefinition): string[] {
  const known = columnsOf(collection).map(({ name }) => name);
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(collection)) ?? 'null');
    if (Array.isArray(kept)) return known.filter((name) => kept.includes(name));
  } catch {
    // Ignore an unreadable value.
  }
  return defaultColumns(collection);
}

/** Remembers the chosen columns. */
export const keepColumns = (collection: CollectionDefinition, names: readonly string[]): void =>
  localStorage.setItem(keyOf(collection), JSON.stringify(names));

/** With more columns than this, a request reads all members instead of naming each in its URL. */
const maxNamed = 40;

/** Returns the members that a grid with these columns reads. Undefined reads all. */
export function membersFor(collection: CollectionDefinition, columns: readonly string[]): string[] | undefined {
  const own = collection.type === 'view' ? ['id'] : ['id', 'updated'];
  if (columns.length > maxNamed) return undefined;
  // Another admin may have dropped a field.
  const known = columnsOf(collection).map(({ name }) => name);
  return [...new Set([...own, ...known.filter((name) => columns.includes(name))])];
}
