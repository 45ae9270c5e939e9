import { newId } from '@recordbus/database';
import type { Principal } from '@recordbus/request/context';
import type { Collection, CollectionType } from './collection.ts';
import { syntheticAddress } from './email-address.ts';
import { isEncrypted, isStoredEncrypted } from './encrypted-values.ts';
import type { Field } from './field.ts';
import { ValueRefusal } from './field-type.ts';
import { file } from './fields/file.ts';
import { fieldTypeOf } from './fields/index.ts';
import { holdsRelations } from './fields/relation.ts';
import { isEmpty } from './is-empty.ts';
import { compileRandomText } from './random-text.ts';
import type { ColumnValues } from './record-reader.ts';

/** A default that is the second in which the create happens; only for `date` fields. */
const now = '@now';

/** A default that is the caller's id; only for `text` and `relation` fields. */
const callerId = '@request.auth.id';

/** A default that is a made-up address (auth §1.4); only for the address of accounts. */
const noAddress = '@none';

/** A default that is a new random text in each record: `@random([a-z0-9]{15})`; only for `text` fields. */
const randomStart = '@random(';

const takesNoAddress = ({ type, name }: Field): boolean => type === 'email' && name === 'email';
const takesNow = ({ type }: Field): boolean => type === 'date';
const takesCaller = ({ type }: Field): boolean => type === 'text' || type === 'relation';

/** Whether a create sets the field when the body does not name it (fields §2.8). */
export const hasDefault = ({ options }: Field): boolean => options.default !== undefined;

/** Whether accounts without an address are created with a made-up one. */
export const allowsNoAddress = (field: Field): boolean => takesNoAddress(field) && field.options.default === noAddress;

/** The pattern of a default that is a random text; undefined for another one. */
function findRandomPattern({ type, options: { default: value } }: Field): string | undefined {
  if (type !== 'text' || typeof value !== 'string') return undefined;
  return value.startsWith(randomStart) && value.endsWith(')') ? value.slice(randomStart.length, -1) : undefined;
}

/** Whether each record gets a new random text. */
export const hasRandomDefault = (field: Field): boolean => findRandomPattern(field) !== undefined;

/** The default as a field value; undefined without one, and for one that each create computes. */
export const findFixedDefault = (field: Field): unknown => (isComputed(field) ? undefined : field.options.default);

const isComputed = (field: Field): boolean =>
  (takesNow(field) && field.options.default === now) ||
  (takesCaller(field) && field.options.default === callerId) ||
  allowsNoAddress(field) ||
  hasRandomDefault(field);

/**
 * Finds what is wrong with a field's default when its other options are correct; undefined if nothing is. `target` is a
 * relation's collection.
 */
export function findDefaultProblem(
  field: Field,
  collectionType: CollectionType,
  target: Pick<Collection, 'name' | 'type'> | undefined,
): string | undefined {
  const type = fieldTypeOf(field);
  if (allowsNoAddress(field)) return collectionType === 'auth' ? undefined : `${noAddress} is for accounts`;
  const pattern = findRandomPattern(field);
  if (pattern !== undefined) return findRandomProblem(field, pattern);
  if (type.isServerSet || type.isWriteOnly || type === file) return `is not for ${type.name} fields`;
  if (isComputed(field)) {
    const isOfCallers = field.type !== 'relation' || !target || target.type === 'auth';
    return isOfCallers ? undefined : `${callerId} is for relations to an auth collection`;
  }
  const value = field.options.default;
  if (field.required && isEmpty(value)) return 'must not be empty, since the field is required';
  const read = type.compile(field)(value);
  if (read instanceof ValueRefusal) return read.message;
  return isEncrypted(field) && isStoredEncrypted(field, String(read)) ? 'must not begin with enc:1:' : undefined;
}

/** How many texts are tried against the other options. */
const trials = 20;

function findRandomProblem(field: Field, pattern: string): string | undefined {
  const make = compileRandomText(pattern);
  if (!make) return 'must have a pattern of characters, classes, groups and repetitions, for at most 1,000 characters';
  const read = fieldTypeOf(field).compile(field);
  let problem: string | undefined;
  for (let trial = 0; trial < trials; trial += 1) {
    const refusal = read(make());
    if (!(refusal instanceof ValueRefusal)) return undefined;
    problem = refusal.message;
  }
  return `${problem}, and no such text comes of it`;
}

interface Creation {
  readonly principal: Principal;
  /** Values that the product sets. Defaults do not replace them. */
  readonly given?: ColumnValues;
}

/** Adds the defaults for fields that a create's body does not name. A field that is null in the body stays null. */
export function withDefaults(
  { fields }: Collection,
  body: Readonly<Record<string, unknown>>,
  { principal, given }: Creation,
): Readonly<Record<string, unknown>> {
  const missing = fields.filter(
    (field) => hasDefault(field) && !Object.hasOwn(body, field.name) && !given?.has(field.name),
  );
  if (missing.length === 0) return body;
  return { ...body, ...Object.fromEntries(missing.map((field) => [field.name, defaultFor(field, principal)])) };
}

function defaultFor(field: Field, principal: Principal): unknown {
  if (!isComputed(field)) return field.options.default;
  if (takesNow(field)) return Math.floor(Date.now() / 1000);
  if (allowsNoAddress(field)) return syntheticAddress('user', newId());
  const pattern = findRandomPattern(field);
  if (pattern !== undefined) return compileRandomText(pattern)?.() ?? null;
  if (principal.type === 'guest') return null;
  // Only an account in the target collection can be the relation's value.
  const isOfTarget = principal.type === 'user' && principal.collection === field.collection;
  if (field.type === 'relation' && !isOfTarget) return null;
  return holdsRelations(field) ? [principal.id] : principal.id;
}
