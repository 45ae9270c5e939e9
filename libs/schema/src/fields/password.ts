import { z } from 'zod';
import { type FieldType, Refusal } from '../field-type.ts';
import { PlainSecret } from '../plain-secret.ts';
import { compileLengths, hasRoom, lengthOptions, lengthSchema, noRoom } from './character-lengths.ts';
import { isStorable } from './storable.ts';

/** Hashing reads all of it. */
const maxBytes = 1024;

const options = z.strictObject(lengthOptions).refine(hasRoom, noRoom);

/**
 * A secret of which an Argon2id hash is stored; nothing of it is ever shown. What is stored can't be measured, so other
 * bounds are for the next write.
 */
export const password: FieldType = {
  name: 'password',
  options,
  emptyTextIsNull: true,
  columnType: () => 'text',
  valueSchema: () => ({ type: 'string', writeOnly: true }),
  writtenSchema: (field) => ({
    type: 'string',
    writeOnly: true,
    ...lengthSchema(field.options as z.output<typeof options>),
  }),
  compile(field) {
    const findLengthProblem = compileLengths(field.options as z.output<typeof options>);
    return (value) => {
      if (typeof value !== 'string') return new Refusal('must be a string');
      if (!isStorable(value)) return new Refusal('must not contain NUL or half a surrogate pair');
      if (Buffer.byteLength(value) > maxBytes) return new Refusal(`must have at most ${maxBytes} bytes`);
      return findLengthProblem(value) ?? new PlainSecret(value, 'password');
    };
  },
};
