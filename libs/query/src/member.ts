import { type Collection, type Field, quoteIdentifier } from '@recordbus/schema';
import { type Kind, kindOf } from './kind.ts';

/** What an identifier can name: a member of the records of a collection. */
export interface Member {
  /** The column's name, quoted. */
  readonly column: string;
  readonly kind: Kind;
  /** Unless it is a system column. */
  readonly field?: Field;
}

const system: readonly (readonly [string, Member])[] = [
  ['id', { column: 'id', kind: 'text' }],
  ['created', { column: 'created_at', kind: 'date' }],
  ['updated', { column: 'updated_at', kind: 'date' }],
  // The names in the parameters of interface §4.5.
  ['created_at', { column: 'created_at', kind: 'date' }],
  ['updated_at', { column: 'updated_at', kind: 'date' }],
];

/** Columns of auth records that their definition may leave out (interface §2.3). */
const auth: readonly (readonly [string, Member])[] = [
  ['email', { column: 'email', kind: 'text' }],
  ['verified', { column: 'verified', kind: 'bool' }],
];

const known = new WeakMap<Collection, ReadonlyMap<string, Member>>();

/** The members of a collection's records by name; made once per schema version. */
export function membersOf(collection: Collection): ReadonlyMap<string, Member> {
  let members = known.get(collection);
  if (!members) {
    members = new Map([
      ...system,
      ...(collection.type === 'auth' ? auth : []),
      ...collection.fields.map(
        (field) => [field.name, { column: quoteIdentifier(field.name), kind: kindOf(field), field }] as const,
      ),
    ]);
    known.set(collection, members);
  }
  return members;
}

/** Is this field's value kept from filters, sorts and rules? Its column holds a hash or an envelope. */
export const isSealed = (field: Field): boolean =>
  field.type === 'password' || field.options.encrypted === true || field.options.hidden === true;
