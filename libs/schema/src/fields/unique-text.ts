import { type Narrowing, Refusal } from '../field-type.ts';

/** An entry of a B-tree holds a third of a page (2,704 bytes) and something of its own. */
const maxUniqueBytes = 2600;

/** Why a text is too long to be unique; undefined when it is not. */
export const findUniqueProblem = (text: string): Refusal | undefined =>
  Buffer.byteLength(text) > maxUniqueBytes
    ? new Refusal(`must have at most ${maxUniqueBytes} bytes, since it is unique`)
    : undefined;

interface Unique {
  readonly unique: boolean;
}

/** Texts that are too long for the index, when the field becomes unique. */
export const uniqueNarrowings = (before: Unique, after: Unique, column: string): Narrowing[] =>
  after.unique && !before.unique ? [{ option: 'unique', where: `octet_length(${column}) > ${maxUniqueBytes}` }] : [];
