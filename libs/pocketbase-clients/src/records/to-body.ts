import { allowsNoAddress, type Collection, type Field, hasDefault, hasRandomDefault } from '@recordbus/schema';
import { fieldNamed, isSeveral } from '../catalog.ts';
import { isObject, type JsonObject } from '../product.ts';
import { blank, type MemberRefusal, mismatch } from '../refusal.ts';
import { readDate } from './read-date.ts';

/** A body in our form. */
export interface WrittenRecord {
  /** The id that the client chose. */
  readonly id: string | undefined;
  readonly data: Record<string, unknown>;
  /** What is wrong with members that only PocketBase has. */
  readonly refusals: Readonly<Record<string, MemberRefusal>>;
}

interface BodyOptions {
  /** The record that is changed; undefined for a new one. */
  readonly id: string | undefined;
  /** Whether the caller writes hidden fields. */
  readonly isAdmin: boolean;
  /** The fields for which files are uploaded, by whether the files are added to those that the record has. */
  readonly uploads?: ReadonlyMap<string, boolean>;
}

const fixedId: MemberRefusal = { code: 'validation_pk_change', message: 'The record primary key cannot be changed.' };

/** Members that `toBody` reads itself, or that nothing stores. */
const handled: ReadonlySet<string> = new Set(['id', 'password', 'passwordConfirm', 'oldPassword']);

/**
 * Translates a create's or an update's body. Like PocketBase it ignores members that are not fields, reads values in any
 * form (`"5"` as a number), and takes `f+`, `+f` and `f-`.
 */
export function toBody(
  collection: Collection,
  body: JsonObject,
  { id, isAdmin, uploads = new Map() }: BodyOptions,
): WrittenRecord {
  const isNew = id === undefined;
  const data: Record<string, unknown> = {};
  const operators: [Field, Operation, unknown][] = [];
  // A field that only admins write is hidden in PocketBase, which drops it from other callers' bodies.
  const isWritable = ({ type, writeRule }: Field) => type !== 'autodate' && (isAdmin || writeRule !== '');
  for (const [member, value] of Object.entries(body)) {
    if (collection.type === 'auth' && handled.has(member)) continue;
    const plain = fieldNamed(collection, member);
    if (plain) {
      if (isWritable(plain)) data[member] = toOurs(plain, value);
      continue;
    }
    const [name, operation] = readModifier(member);
    const field = operation && fieldNamed(collection, name);
    if (field && isWritable(field)) operators.push([field, operation, value]);
  }
  for (const [field, operation, value] of operators) applyOperator(data, field, operation, value, isNew);
  for (const [name, isAdded] of uploads) {
    const field = fieldNamed(collection, name);
    // An upload to a list replaces it in PocketBase, and is added here.
    if (field && isSeveral(field) && !isNew && !isAdded && data[name] === undefined) data[name] = [];
  }
  if (isNew) addZeros(data, collection);
  for (const field of collection.fields)
    if (isLeftToDefault(field, isNew) && isBlank(data[field.name])) delete data[field.name];
  const refusals: Record<string, MemberRefusal> = collection.type === 'auth' ? addPassword(data, body, isNew) : {};
  if (id !== undefined && typeof body.id === 'string' && body.id !== '' && body.id !== id) refusals.id = fixedId;
  return { id: isNew && typeof body.id === 'string' && body.id !== '' ? body.id : undefined, data, refusals };
}

/**
 * Whether an empty value leaves the field as it is: the address of an account without one, which clients send back, and a
 * new record's text that PocketBase fills.
 */
const isLeftToDefault = (field: Field, isNew: boolean): boolean =>
  isNew ? allowsNoAddress(field) || hasRandomDefault(field) : field.system && field.type === 'email';

const isBlank = (value: unknown): boolean => value === '' || value === null;

type Operation = '+' | '-' | '+first';

function readModifier(member: string): [name: string, operation: Operation | undefined] {
  if (member.endsWith('+')) return [member.slice(0, -1), '+'];
  if (member.endsWith('-')) return [member.slice(0, -1), '-'];
  return member.startsWith('+') ? [member.slice(1), '+first'] : [member, undefined];
}

function applyOperator(
  data: Record<string, unknown>,
  field: Field,
  operation: Operation,
  value: unknown,
  isNew: boolean,
): void {
  const { name } = field;
  const stored = data[name];
  if (field.type === 'number') {
    const number = numberOf(value) * (operation === '-' ? -1 : 1);
    const added = isObject(stored) ? numberOf(stored.$add) : 0;
    data[name] = isNew || typeof stored === 'number' ? numberOf(stored) + number : { $add: added + number };
  } else if (!isSeveral(field)) {
    data[name] = operation === '-' ? null : toOurs(field, value);
  } else {
    const list = listOf(value);
    if (isNew || Array.isArray(stored)) data[name] = changeList(listOf(stored), operation, list);
    else data[name] = { ...(isObject(stored) && stored), [listOperators[operation]]: list };
  }
}

const listOperators: Readonly<Record<Operation, string>> = { '+': '$append', '-': '$remove', '+first': '$prepend' };

function changeList(before: readonly unknown[], operation: Operation, list: readonly unknown[]): unknown[] {
  const others = before.filter((one) => !list.includes(one));
  if (operation === '-') return others;
  return operation === '+' ? [...others, ...list] : [...list, ...others];
}

/** PocketBase stores 0 and false where a create names no value. */
function addZeros(data: Record<string, unknown>, { fields }: Collection): void {
  for (const field of fields) {
    if (data[field.name] !== undefined || field.system || field.writeRule != null || hasDefault(field)) continue;
    if (field.type === 'number' && !field.required) data[field.name] = 0;
    if (field.type === 'bool' && !field.required) data[field.name] = false;
  }
}

function addPassword(
  data: Record<string, unknown>,
  { password, passwordConfirm, oldPassword }: JsonObject,
  isNew: boolean,
): Record<string, MemberRefusal> {
  // PocketBase's clients may send a whole record back.
  if (isNew && data.verified === false) delete data.verified;
  if (!password && !isNew) return passwordConfirm ? { password: blank, passwordConfirm: mismatch } : {};
  if (!password) return { password: blank, ...(!passwordConfirm && { passwordConfirm: blank }) };
  data.password = password;
  if (oldPassword !== undefined) data.old_password = oldPassword;
  if (!passwordConfirm) return { passwordConfirm: blank };
  return password === passwordConfirm ? {} : { passwordConfirm: mismatch };
}

function toOurs(field: Field, value: unknown): unknown {
  switch (field.type) {
    case 'number':
      return numberOf(value);
    case 'bool':
      return typeof value === 'string' ? /^(1|t|true)$/i.test(value) : numberOf(value) !== 0;
    case 'date':
      return dateOf(value);
    case 'json':
    case 'vector':
      return jsonOf(value);
    case 'geoPoint':
      return pointOf(value);
    case 'select':
    case 'relation':
    case 'file':
      return isSeveral(field) ? listOf(value) : (listOf(value).at(-1) ?? null);
    default:
      return textOf(value) ?? '';
  }
}

/** Undefined for null, a list and an object, which PocketBase stores as no text. */
const textOf = (value: unknown): string | undefined =>
  value === undefined || typeof value === 'object' ? undefined : String(value);

/** A number as Go reads it: no spaces around it, and only decimal digits. Anything else is 0. */
function numberOf(value: unknown): number {
  if (typeof value === 'string' && !/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(value)) return 0;
  const number = typeof value === 'object' ? 0 : Number(value ?? 0);
  return Number.isFinite(number) ? number : 0;
}

/** A number is unix seconds, as here; PocketBase takes texts only. */
function dateOf(value: unknown): string | number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? Math.floor(value) : null;
  return typeof value === 'string' ? readDate(value) : null;
}

/** Forms send JSON as text, and PocketBase reads a text that is JSON. */
function jsonOf(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? null;
  if (value === '') return null;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function pointOf(value: unknown): unknown {
  const point = jsonOf(value);
  if (!isObject(point)) return null;
  const [lat, lng] = [numberOf(point.lat), numberOf(point.lon)];
  return lat === 0 && lng === 0 ? null : { lat, lng };
}

/** A list's texts, each once. A text may be a list in JSON, as forms send it. */
function listOf(value: unknown): string[] {
  const given = typeof value === 'string' && value.startsWith('[') ? jsonOf(value) : value;
  const texts = (Array.isArray(given) ? given : [given]).map(textOf);
  return [...new Set(texts)].flatMap((text) => (text === undefined || text === '' ? [] : [text]));
}
