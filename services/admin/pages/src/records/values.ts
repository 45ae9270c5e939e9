import type { CollectionDefinition, FieldDefinition } from '@recordbus/client';

/** More characters than these are not shown in a cell. */
const longestCell = 160;

/** Members of every record that are no fields. */
const ownMembers: readonly FieldDefinition[] = [
  { name: 'created', type: 'autodate' },
  { name: 'updated', type: 'autodate' },
];

/** The columns that a grid may show, besides the id. */
export const columnsOf = (collection: CollectionDefinition): readonly FieldDefinition[] => [
  ...collection.fields.filter(({ type }) => type !== 'password'),
  ...(collection.type === 'view' ? [] : ownMembers),
];

/** Made once: to make one takes longer than to write a hundred moments. */
const localFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** Whether a moment is within the time that dates can tell. */
const isDate = (seconds: number): boolean => Math.abs(seconds) <= 8.64e12;

/** The local text of a moment, in unix seconds. */
export const localTime = (seconds: number): string =>
  isDate(seconds) ? localFormat.format(seconds * 1000) : String(seconds);

/** The text of a moment in UTC. */
export const utcTime = (seconds: number): string =>
  isDate(seconds) ? `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC` : String(seconds);

/** The value of an input of the type `datetime-local`. */
export function localInput(seconds: number): string {
  const date = new Date(seconds * 1000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** Returns the short text of a value in a cell. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return cut(value);
  if (Array.isArray(value) && value.length > 8 && typeof value[0] === 'number') return `${value.length} numbers`;
  return cut(JSON.stringify(value));
}

const cut = (text: string): string => (text.length > longestCell ? `${text.slice(0, longestCell)}…` : text);

/** The text that stands for a record in lists of others: its first short text, else its id. */
export function titleOf(
  record: Readonly<Record<string, unknown>>,
  collection: CollectionDefinition | undefined,
): string {
  const fields = collection?.fields.filter(({ type }) => type === 'text' || type === 'email') ?? [];
  const found = fields.map(({ name }) => record[name]).find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found.slice(0, 80) : String(record.id);
}
