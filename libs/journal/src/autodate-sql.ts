import { type Collection, type Field, isSetBy, quoteIdentifier } from '@recordbus/schema';
import { nowSec } from './version-sql.ts';

/** SQL of the value of a field in a new row: the written value, or the current time for a field that a create sets. */
export const newValue = (field: Field, written: string): string =>
  isSetBy(field, 'onCreate') ? `coalesce(${written}, ${nowSec})` : written;

/** SQL of the value of a field that an update does not name: that of the row, or the current time if updates set it. */
export const nextValue = (field: Field, row: string): string =>
  isSetBy(field, 'onUpdate') ? nowSec : `${row}.${quoteIdentifier(field.name)}`;

/** Assignments of the times that every update sets, each followed by a comma. */
export const autodateAssignments = ({ fields }: Collection): string =>
  fields
    .filter((field) => isSetBy(field, 'onUpdate'))
    .map(({ name }) => `${quoteIdentifier(name)} = ${nowSec}, `)
    .join('');
