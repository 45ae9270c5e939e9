import type { CollectionDefinition } from '@recordbus/client';

/** The fields that a column may fill. */
export function targetsOf(collection: CollectionDefinition, keep: readonly string[]): readonly string[] {
  const fields = collection.fields.map(({ name }) => name);
  const passwords = collection.type === 'auth' ? ['password'] : [];
  return [...new Set(['id', ...fields, ...passwords, ...keep])];
}

/** Columns that an import reads past by itself (import §2.1). */
const ignored = ['id', 'created', 'updated', 'expand', 'anonymous', '_refused'];

/** Names without what spreadsheets change about them. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, '');

/** What each column probably is: the field with its name, else nothing. */
export function usualMap(columns: readonly string[], collection: CollectionDefinition): Record<string, string | null> {
  const names = [...targetsOf(collection, []), ...ignored];
  const taken = new Set<string>();
  const entries = columns.map((column) => {
    const target = names.find((name) => name === column) ?? names.find((name) => plain(name) === plain(column));
    if (target === undefined || taken.has(target)) return [column, null] as const;
    taken.add(target);
    return [column, target] as const;
  });
  return Object.fromEntries(entries);
}

/** Whether a column is left as it is, without a choice. */
export const isIgnored = (column: string): boolean => ignored.includes(column);
