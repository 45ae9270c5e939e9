import type { JsonSchema } from '@recordbus/http';
import type { Field } from '../field.ts';

/** The schema for a field that holds one such item, or a list of them when it is `multiple`. */
export const listOf = ({ options }: Field, item: JsonSchema): JsonSchema =>
  options.multiple ? { type: 'array', items: item } : item;
