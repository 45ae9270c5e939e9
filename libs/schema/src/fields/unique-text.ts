import { type Narrowing, ValueRefusal } from '../field-type.ts';

/** A B-tree entry has at most a third of a page (2,704 bytes), with its header. */
const maxUniqueBytes = 2600;

/** Finds whether a text is too long to be unique (fields §2.6). */
export const findUniqueProblem = (text: string): ValueRefusal | undefined =>
  Buffer.byteLength(text) > maxUniqueBytes
    ? new ValueRefusal(`must have at most ${maxUniqueBytes} bytes, since it is unique`)
    : undefined;

interface Unique {
  readonly unique: boolean;
}

/** Returns the restriction for a field that becomes unique: its texts must fit the index. */
export const uniqueNarrowings = (before: Unique, after: Unique, column: string): Narrowing[] =>
  after.unique && !before.unique ? [{ option: 'unique', where: `octet_length(${column}) > ${maxUniqueBytes}` }] : [];
