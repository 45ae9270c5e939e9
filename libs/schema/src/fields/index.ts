import type { Field } from '../field.ts';
import type { FieldType } from '../field-type.ts';
import { autodate } from './autodate.ts';
import { bool } from './bool.ts';
import { date } from './date.ts';
import { editor } from './editor.ts';
import { email } from './email.ts';
import { file } from './file.ts';
import { geoPoint } from './geo-point.ts';
import { json } from './json.ts';
import { number } from './number.ts';
import { password } from './password.ts';
import { relation } from './relation.ts';
import { select } from './select.ts';
import { text } from './text.ts';
import { url } from './url.ts';
import { vector } from './vector.ts';

/** All field types, by their names in definitions. */
export const fieldTypes: ReadonlyMap<string, FieldType> = new Map(
  [
    text,
    number,
    bool,
    email,
    url,
    date,
    autodate,
    select,
    relation,
    json,
    password,
    editor,
    geoPoint,
    vector,
    file,
  ].map((type) => [type.name, type]),
);

/** Whether a field's values are stored but never shown. */
export const isWriteOnly = ({ type }: Field): boolean => fieldTypes.get(type)?.isWriteOnly === true;

/** Whether a stored value's JSON may be much longer than the written one. */
export const mayGrow = ({ type }: Field): boolean => fieldTypes.get(type)?.mayGrow === true;

/** Returns the type of a field whose definition was checked. Throws for a later version's type. */
export function fieldTypeOf(field: Field): FieldType {
  const type = fieldTypes.get(field.type);
  if (!type) throw new Error(`the field ${field.name} has the type ${field.type}, which this version does not know`);
  return type;
}
