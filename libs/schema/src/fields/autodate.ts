import { z } from 'zod';
import type { Field } from '../field.ts';
import { type FieldType, Refusal } from '../field-type.ts';

const flag = z.boolean('must be true or false');

/** A definition that says neither means the time of creation. */
const options = z
  .strictObject({ onCreate: flag.optional(), onUpdate: flag.optional() })
  .transform(({ onCreate, onUpdate }) => ({
    onCreate: onCreate ?? onUpdate === undefined,
    onUpdate: onUpdate ?? false,
  }));

/** A time that the writing statement itself sets, in unix seconds (`newValue`, `nextValue`). */
export const autodate: FieldType = {
  name: 'autodate',
  options,
  isServerSet: true,
  emptyTextIsNull: true,
  columnType: () => 'bigint',
  valueSchema: () => ({ type: 'integer', description: 'unix seconds' }),
  compile: () => () => new Refusal('is set by the server'),
};

/** Is the field a time to be set by every write of this kind? */
export const isSetBy = (field: Field, flagName: 'onCreate' | 'onUpdate'): boolean =>
  field.type === autodate.name && field.options[flagName] === true;
