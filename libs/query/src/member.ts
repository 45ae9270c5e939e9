import { type Collection, type Field, hasTimeColumn, quoteIdentifier, type TimeColumn } from '@recordbus/schema';
import { type Kind, kindOf } from './kind.ts';

/** What an identifier can name: a member of the records of a collection. */
export interface Member {
  /** The column's name, quoted. */
  readonly column: string;
  readonly kind: Kind;
  /** Unless it is a system column. */
  readonly field?: Field;
}

const id: readonly [string, Member] = ['id', { column: 'id', kind: 'text' }];

/** Under the names that a record shows, and those in the parameters of interface §4.5. */
const times: readonly (readonly [string, TimeColumn])[] = [
  ['created', 'created_at'],
  ['updated', 'updated_at'],
  ['created_at', 'created_at'],
  ['updated_at', 'updated_at'],
];

/** Columns of auth records that their definition may leave out (interface §2.3). */
const auth: readonly (readonly [string, Member])[] = [
  ['email', { column: 'email', kind: 'text' }],
  ['verified', { column: 'verified', kind: 'bool' }],
  ['anonymous', { column: 'is_anonymous', kind: 'bool' }],
];

const known = new WeakMap<Collection, ReadonlyMap<string, Member>>();

/** The members of a collection's records by name; made once per schema version. */
export function membersOf(collection: Collection): ReadonlyMap<string, Member> {
  let members = known.get(collection);
  if (!members) {
    members = new Map([
      id,
      ...times
        .filter(([, column]) => hasTimeColumn(collection, column))
        .map(([name, column]) => [name, { column, kind: 'date' }] as const),
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
