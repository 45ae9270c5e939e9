import { z } from 'zod';
import { type FieldType, ValueRefusal } from '../field-type.ts';
import { PlainSecret } from '../plain-secret.ts';
import { compileLengths, isOrdered, lengthOptions, lengthSchema, notOrdered } from './character-lengths.ts';
import { plainText } from './form-text.ts';
import { isStorable } from './storable.ts';

/** Hashing reads every byte. */
const maxBytes = 1024;

const options = z.strictObject(lengthOptions).refine(isOrdered, notOrdered);

/**
 * A secret, stored as an Argon2id hash and never shown. A hash has no length, so changed bounds apply from the next write
 * on.
 */
export const password: FieldType = {
  name: 'password',
  reference: 'fields §3.11',
  options,
  samples: [{ values: ['correct horse battery staple'] }],
  emptyTextIsNull: true,
  columnType: () => 'text',
  filterKind: () => 'text',
  viewType: undefined,
  formText: () => plainText,
  isWriteOnly: true,
  valueSchema: () => ({ type: 'string', writeOnly: true }),
  writtenSchema: (field) => ({
    type: 'string',
    writeOnly: true,
    ...lengthSchema(field.options as z.output<typeof options>),
  }),
  compile(field) {
    const findLengthProblem = compileLengths(field.options as z.output<typeof options>);
    return (value) => {
      if (typeof value !== 'string') return new ValueRefusal('must be a string');
      if (!isStorable(value)) return new ValueRefusal('must not contain NUL or half a surrogate pair');
      if (Buffer.byteLength(value) > maxBytes) return new ValueRefusal(`must have at most ${maxBytes} bytes`);
      return findLengthProblem(value) ?? new PlainSecret(value, 'password');
    };
  },
};
