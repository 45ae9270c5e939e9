import { createHash } from 'node:crypto';
import { isOwnMember, type StoredField, severalOf, type TranslatedCollection } from '../collections/index.ts';

type Row = Readonly<Record<string, unknown>>;

/** A row as an import's body, with its files. */
export interface ReadRow {
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The files that the record names: their names in PocketBase and here. */
  readonly files: readonly NamedFile[];
}

/** A file's field and names. */
export interface NamedFile {
  readonly from: string;
  readonly to: string;
}

/** What reading a collection's rows depends on. */
export interface RowContext {
  nameOf(field: string): string;
  /** Whether a relation's target record exists. */
  exists(collectionId: string, id: string): boolean;
  /** Counts a value that is not taken as it is. */
  count(field: string, what: Loss, value: string): void;
}

/** Why a value is not taken as it is. */
export type Loss = 'dangling' | 'unlisted' | 'unreadable' | 'renamed_file' | 'no_address' | 'slow_hash';

/** Returns the reader for a collection's rows, which makes a body for an import. */
export function createRowReader({ from, to }: TranslatedCollection, context: RowContext): (row: Row) => ReadRow {
  const types = new Map(to.fields.map(({ name, type }) => [name, type]));
  const readers = from.fields.flatMap((field) => {
    if (isOwnMember(from, field.name)) return [];
    const name = context.nameOf(field.name);
    return types.has(name) ? [{ field, name, read: readerOf(field, types.get(name), context) }] : [];
  });
  const hasTime = (name: string) => from.fields.some((field) => field.name === name && field.type === 'autodate');
  const times = ['created', 'updated'].filter(hasTime);
  return (row) => {
    const id = textOf(row.id);
    const files: NamedFile[] = [];
    const body: Record<string, unknown> = { id };
    for (const name of times) {
      const seconds = secondsOf(row[name]);
      if (seconds !== null) body[name] = seconds;
    }
    for (const { field, name, read } of readers) body[name] = read(row[field.name], files);
    if (from.type === 'auth') Object.assign(body, accountOf(row, id, context));
    return { id, body, files };
  };
}

/** Bcrypt costs up to this one sign in here (auth §2.2). */
const maxBcryptCost = 14;

function accountOf(row: Row, id: string, { count }: RowContext) {
  const email = textOf(row.email);
  const password = textOf(row.password);
  if (email === '') count('email', 'no_address', id);
  const cost = /^\$2[abxy]\$(\d\d)\$/.exec(password)?.[1];
  if (cost !== undefined && Number(cost) > maxBcryptCost) count('password', 'slow_hash', id);
  return {
    // RFC 6761 §6.4: the domain never resolves.
    email: email === '' ? `pocketbase_${id}@users.invalid`.toLowerCase() : email,
    verified: email !== '' && Boolean(row.verified),
    ...(password !== '' && { password }),
  };
}

/** Larger numbers would be taken for milliseconds (fields §3.6). Apps write 9999-12-31 for "never". */
const maxNumber = 1e11;

type Read = (value: unknown, files: NamedFile[]) => unknown;

function readerOf(field: StoredField, type: string | undefined, context: RowContext): Read {
  const { name } = field;
  const { count } = context;
  const isList = severalOf(field).multiple === true;
  switch (field.type) {
    case 'number':
      return numberOf;
    case 'bool':
      return (value) => Boolean(Number(numberOf(value)));
    case 'date':
    case 'autodate':
      return (value) => {
        const seconds = secondsOf(value);
        if (seconds === null && value) count(name, 'unreadable', textOf(value));
        return seconds !== null && Math.abs(seconds) > maxNumber ? new Date(seconds * 1000).toISOString() : seconds;
      };
    case 'json':
      return (value) => jsonOf(value, (text) => count(name, 'unreadable', text));
    case 'geoPoint':
      return pointOf;
    case 'select': {
      const values = new Set(field.values ?? []);
      const isListed = (value: string) => values.has(value) || void count(name, 'unlisted', value) || false;
      return (value) => pick(listOf(value).filter(isListed), isList);
    }
    case 'relation': {
      const target = field.collectionId ?? '';
      const isThere = (id: string) =>
        type !== 'relation' || context.exists(target, id) || void count(name, 'dangling', id) || false;
      const read: Read = (value) => pick([...new Set(listOf(value).filter(isThere))], isList);
      return type === 'text' ? (value, files) => read(value, files) ?? '' : read;
    }
    case 'file':
      return (value, files) => {
        const named = listOf(value).map((from) => ({ from, to: storedNameOf(from) }));
        for (const { from, to } of named) if (from !== to) count(name, 'renamed_file', from);
        const taken = isList ? named : named.slice(-1);
        files.push(...taken);
        return pick(
          taken.map(({ to }) => to),
          isList,
        );
      };
    case 'password':
      return () => null;
    default:
      return textOf;
  }
}

const pick = (values: readonly string[], isList: boolean): unknown => (isList ? values : (values.at(-1) ?? null));

const textOf = (value: unknown): string =>
  value === null || value === undefined || typeof value === 'object' ? '' : String(value);

function numberOf(value: unknown): number {
  const number = Number(value ?? 0);
  return Number.isFinite(number) ? number : 0;
}

/** A list in JSON, or one value; PocketBase reads both. */
function listOf(value: unknown): string[] {
  const text = textOf(value);
  if (text === '') return [];
  if (!text.startsWith('[')) return [text];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.map(textOf).filter((item) => item !== '') : [text];
  } catch {
    return [text];
  }
}

function jsonOf(value: unknown, onUnreadable: (text: string) => void): unknown {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value !== 'string') return typeof value === 'bigint' ? Number(value) : value;
  try {
    return JSON.parse(value);
  } catch {
    onUnreadable(value.slice(0, 100));
    return value;
  }
}

function pointOf(value: unknown): unknown {
  const point = jsonOf(value, () => {});
  if (typeof point !== 'object' || point === null || !('lat' in point) || !('lon' in point)) return null;
  const [lat, lng] = [numberOf(point.lat), numberOf(point.lon)];
  return lat === 0 && lng === 0 ? null : { lat, lng };
}

/** A time that PocketBase stores as text, in unix seconds; null for none. A fraction is cut towards the past. */
function secondsOf(value: unknown): number | null {
  const text = textOf(value);
  if (!/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d/.test(text)) return null;
  const ms = Date.parse(`${text.replace(' ', 'T').replace(/Z?$/, '')}Z`);
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}

/** The names that files have here (files §2.1). */
const namePattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/;

/** A file's name here: the same, unless it has other characters or is too long. */
export function storedNameOf(name: string): string {
  if (namePattern.test(name)) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
  const dot = name.lastIndexOf('.');
  const clean = (text: string) => text.slice(0, 150).replace(/[^A-Za-z0-9_-]+/g, '_');
  const extension = dot > 0 ? clean(name.slice(dot + 1)).slice(0, 20) : '';
  return `${clean(dot > 0 ? name.slice(0, dot) : name).slice(0, 100) || 'file'}_${digest}${extension && `.${extension}`}`;
}
