import {
  type Collection,
  type Field,
  fieldTypeOf,
  hasTimeColumn,
  isWriteOnly,
  quoteIdentifier,
  type TimeColumn,
  type ValueKind,
} from '@recordbus/schema';

/** A record member that an expression can name. */
export interface Member {
  /** The column's name, quoted. */
  readonly column: string;
  readonly kind: ValueKind;
  /** Unless it is a system column. */
  readonly field?: Field;
}

const id: readonly [string, Member] = ['id', { column: 'id', kind: 'text' }];

/** Under the names that records show, and as `created_at` and `updated_at` (filters §4.1). */
const times: readonly (readonly [string, TimeColumn])[] = [
  ['created', 'created_at'],
  ['updated', 'updated_at'],
  ['created_at', 'created_at'],
  ['updated_at', 'updated_at'],
];

/** Account members that their definition may leave out (filters §4.1). */
const auth: readonly (readonly [string, Member])[] = [
  ['email', { column: 'email', kind: 'text' }],
  ['verified', { column: 'verified', kind: 'bool' }],
  ['anonymous', { column: 'is_anonymous', kind: 'bool' }],
];

const known = new WeakMap<Collection, ReadonlyMap<string, Member>>();

/** Returns a collection's record members by name, computed once per schema version. */
export function membersOf(collection: Collection): ReadonlyMap<string, Member> {
  let members = known.get(collection);
  if (!members) {
    members = new Map([
      id,
      ...times
        .filter(([, column]) => hasTimeColumn(collection, column))
        .map(([name, column]) => [name, { column, kind: 'date' }] as const),
      ...(collection.type === 'auth' ? auth : []),
      ...collection.fields.map((field): [string, Member] => [
        field.name,
        { column: quoteIdentifier(field.name), kind: fieldTypeOf(field).filterKind(field), field },
      ]),
    ]);
    known.set(collection, members);
  }
  return members;
}

/** Sets the members of computed rows, which no definition describes. */
export const setMembers = (collection: Collection, members: ReadonlyMap<string, Member>): void =>
  void known.set(collection, members);

/** Whether filters, sorts and rules cannot name the field, since its column has a hash or a ciphertext (filters §4.2). */
export const isHidden = (field: Field): boolean =>
  isWriteOnly(field) || field.options.encrypted === true || field.options.hidden === true;
