import type { CollectionDefinition } from '@recordbus/client';

/** Returns the fields that a column can map to. */
export function targetsOf(collection: CollectionDefinition, keep: readonly string[]): readonly string[] {
  const fields = collection.fields.map(({ name }) => name);
  const passwords = collection.type === 'auth' ? ['password'] : [];
  return [...new Set(['id', ...fields, ...passwords, ...keep])];
}

/** Columns that an import ignores (import §2.1). */
const ignored = ['id', 'created', 'updated', 'expand', 'anonymous', '_refused'];

/** Ignores the case, spaces and punctuation that spreadsheets change. */
const normalized = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, '');

/** Suggests a field for each column: the one with the same name, otherwise none. */
export function suggestedMap(
  columns: readonly string[],
  collection: CollectionDefinition,
): Record<string, string | null> {
  const names = [...targetsOf(collection, []), ...ignored];
  const taken = new Set<string>();
  const entries = columns.map((column) => {
    const target =
      names.find((name) => name === column) ?? names.find((name) => normalized(name) === normalized(column));
    if (target === undefined || taken.has(target)) return [column, null] as const;
    taken.add(target);
    return [column, target] as const;
  });
  return Object.fromEntries(entries);
}

/** Whether an import ignores a column. */
export const isIgnored = (column: string): boolean => ignored.includes(column);
