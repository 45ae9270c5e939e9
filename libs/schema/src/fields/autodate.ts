import { z } from 'zod';
import type { Field } from '../field.ts';
import { type FieldType, ValueRefusal } from '../field-type.ts';
import { plainText } from './form-text.ts';

const flag = z.boolean('must be true or false');

/** Without either option, `onCreate` holds (fields §3.7). */
const options = z
  .strictObject({ onCreate: flag.optional(), onUpdate: flag.optional() })
  .transform(({ onCreate, onUpdate }) => ({
    onCreate: onCreate ?? onUpdate === undefined,
    onUpdate: onUpdate ?? false,
  }));

/** A time in unix seconds that the writing statement itself sets (`newValue`, `nextValue`). */
export const autodate: FieldType = {
  name: 'autodate',
  reference: 'fields §3.7',
  options,
  samples: [{ options: { onCreate: true, onUpdate: true }, values: [] }],
  isServerSet: true,
  hasOuterOptions: true,
  emptyTextIsNull: true,
  columnType: () => 'bigint',
  filterKind: () => 'date',
  viewType: 'date',
  formText: () => plainText,
  valueSchema: () => ({ type: 'integer', description: 'unix seconds' }),
  compile: () => () => new ValueRefusal('is set by the server'),
};

/** Whether every write of this kind sets the field. */
export const isSetBy = (field: Field, flagName: 'onCreate' | 'onUpdate'): boolean =>
  field.type === autodate.name && field.options[flagName] === true;
