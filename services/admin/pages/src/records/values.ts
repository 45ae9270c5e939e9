import type { CollectionDefinition, FieldDefinition } from '@recordbus/client';

/** The maximum number of characters in a cell. */
const longestCell = 160;

/** Members of every record that are not fields. */
const ownMembers: readonly FieldDefinition[] = [
  { name: 'created', type: 'autodate' },
  { name: 'updated', type: 'autodate' },
];

/** Returns the columns that a grid can show, in addition to the id. */
export const columnsOf = (collection: CollectionDefinition): readonly FieldDefinition[] => [
  ...collection.fields.filter(({ type }) => type !== 'password'),
  ...(collection.type === 'view' ? [] : ownMembers),
];

/** Created once, since creating a formatter takes longer than formatting a hundred dates. */
const localFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** Whether a time is within the range of `Date`. */
const isDate = (seconds: number): boolean => Math.abs(seconds) <= 8.64e12;

/** Formats unix seconds in local time. */
export const localTime = (seconds: number): string =>
  isDate(seconds) ? localFormat.format(seconds * 1000) : String(seconds);

/** Formats unix seconds in UTC. */
export const utcTime = (seconds: number): string =>
  isDate(seconds) ? `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC` : String(seconds);

/** Returns the value of a `datetime-local` input. */
export function localInput(seconds: number): string {
  const date = new Date(seconds * 1000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** Formats a value for a cell. */
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
