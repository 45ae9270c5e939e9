import type { Principal } from '@recordbus/request/context';
import type { Collection } from './collection.ts';
import { isEncrypted, isStoredEncrypted } from './encrypted-values.ts';
import type { Field } from './field.ts';
import { ValueRefusal } from './field-type.ts';
import { file } from './fields/file.ts';
import { fieldTypeOf } from './fields/index.ts';
import { holdsRelations } from './fields/relation.ts';
import { isEmpty } from './is-empty.ts';
import type { ColumnValues } from './record-reader.ts';

/** A default that is the second in which the create happens; only for `date` fields. */
const now = '@now';

/** A default that is the caller's id; only for `text` and `relation` fields. */
const callerId = '@request.auth.id';

const takesNow = ({ type }: Field): boolean => type === 'date';
const takesCaller = ({ type }: Field): boolean => type === 'text' || type === 'relation';

/** Whether a create sets the field when the body does not name it (fields §2.8). */
export const hasDefault = ({ options }: Field): boolean => options.default !== undefined;

/** The default as a field value; undefined without one, and for one that each create computes. */
export const findFixedDefault = (field: Field): unknown => (isComputed(field) ? undefined : field.options.default);

const isComputed = (field: Field): boolean =>
  (takesNow(field) && field.options.default === now) || (takesCaller(field) && field.options.default === callerId);

/**
 * Finds what is wrong with a field's default when its other options are correct; undefined if nothing is. `target` is a
 * relation's collection.
 */
export function findDefaultProblem(field: Field, target: Pick<Collection, 'name' | 'type'> | undefined) {
  const type = fieldTypeOf(field);
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
  if (principal.type === 'guest') return null;
  // Only an account in the target collection can be the relation's value.
  const isOfTarget = principal.type === 'user' && principal.collection === field.collection;
  if (field.type === 'relation' && !isOfTarget) return null;
  return holdsRelations(field) ? [principal.id] : principal.id;
}
