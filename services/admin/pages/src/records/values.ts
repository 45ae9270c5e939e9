import type { CollectionDefinition, FieldDefinition } from '@recordbus/client';

/** How many characters a cell may show. */
const longestCell = 160;

/** Members in every record that are not fields. */
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
const localFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** Whether a time is within `Date`'s range. */
const isDate = (seconds: number): boolean => Math.abs(seconds) <= 8.64e12;

/** Formats unix seconds in local time. */
export const localTime = (seconds: number): string =>
  isDate(seconds) ? localFormat.format(seconds * 1000) : String(seconds);

/** Formats unix seconds in UTC. */
export const utcTime = (seconds: number): string =>
  isDate(seconds) ? `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC` : String(seconds);

/** Returns a `datetime-local` input's value; empty for what is not a date. */
export function localInput(seconds: number): string {
  if (!isDate(seconds)) return '';
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

/** Whether a file is an image that has a preview. Other types could contain scripts or use a lot of memory. */
export const isImage = (name: string): boolean => /\.(png|jpe?g|gif|webp|avif)$/i.test(name);

/** A geographic point, in degrees. */
export interface Point {
  readonly lat: number;
  readonly lng: number;
}

export const isPoint = (value: unknown): value is Point =>
  typeof value === 'object' &&
  value !== null &&
  'lat' in value &&
  'lng' in value &&
  typeof value.lat === 'number' &&
  typeof value.lng === 'number';

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };

/** Returns a rich text without its tags. */
export const plainText = (html: unknown): unknown =>
  typeof html === 'string'
    ? html
        .slice(0, 4 * longestCell)
        .replace(/<\/?(?:a|b|code|del|em|i|mark|s|small|span|strong|sub|sup|u)(?:\s[^<>]*)?>/gi, '')
        .replace(/<[^<>]*>/g, ' ')
        .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => entities[name] ?? '')
        .replace(/\s+/g, ' ')
        .trim()
    : html;

const cut = (text: string): string => (text.length > longestCell ? `${text.slice(0, longestCell)}…` : text);

/** Shortens an id to its end, which differs most. */
export const shortId = (id: string): string => (id.length > 14 ? `…${id.slice(-10)}` : id);

/** Fields with these names are a record's best labels. */
const labelNames = ['name', 'title', 'label', 'subject', 'username'];

/** Returns the fields that may label a record, best first: a text field, and the email address. */
export function displayFields(collection: CollectionDefinition | undefined): readonly string[] {
  const fields = collection?.fields.filter(({ options }) => options?.encrypted !== true) ?? [];
  const texts = fields.filter(({ type }) => type === 'text').map(({ name }) => name);
  const [text] = [...labelNames.filter((name) => texts.includes(name)), ...texts];
  const email = fields.find(({ type }) => type === 'email')?.name;
  return [text, email].filter((name) => name !== undefined);
}

/** Returns a record's label in other records' lists: a short text, or its id. */
export function titleOf(
  record: Readonly<Record<string, unknown>>,
  collection: CollectionDefinition | undefined,
): string {
  const found = displayFields(collection)
    .map((name) => record[name])
    .find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found.slice(0, 80) : String(record.id);
}
