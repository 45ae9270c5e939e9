import type { CollectionDefinition } from '@recordbus/client';
import { columnsOf } from './values.ts';

const keyOf = (collection: CollectionDefinition): string => `recordbus-columns-${collection.id}`;

/** As many columns as a wide window shows, until others are chosen. */
const usualColumns = 7;

/** Returns the names of the chosen columns, which this browser keeps for each collection. */
export function readColumns(collection: CollectionDefinition): string[] {
  const known = columnsOf(collection).map(({ name }) => name);
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(collection)) ?? 'null');
    if (Array.isArray(kept)) return known.filter((name) => kept.includes(name));
  } catch {
    // An unreadable choice counts as none.
  }
  const fields = known.filter((name) => name !== 'created' && name !== 'updated');
  return [...fields.slice(0, usualColumns), ...known.filter((name) => name === 'updated')];
}

/** Keeps the chosen columns. */
export const keepColumns = (collection: CollectionDefinition, names: readonly string[]): void =>
  localStorage.setItem(keyOf(collection), JSON.stringify(names));
