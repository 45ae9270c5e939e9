import { type Collection, type Field, isSetBy, quoteIdentifier } from '@recordbus/schema';
import { nowSec } from './event-sql.ts';

/** The value of a field in a new row: what is written, in SQL, or the present where the server sets it. */
export const newValue = (field: Field, written: string): string =>
  isSetBy(field, 'onCreate') ? `coalesce(${written}, ${nowSec})` : written;

/** The value of a field that an update does not name: the row's own, or the present where the server sets it. */
export const nextValue = (field: Field, row: string): string =>
  isSetBy(field, 'onUpdate') ? nowSec : `${row}.${quoteIdentifier(field.name)}`;

/** Assignments, each with a comma behind it, of an update that names no field: the times that every write sets. */
export const autodateAssignments = ({ fields }: Collection): string =>
  fields
    .filter((field) => isSetBy(field, 'onUpdate'))
    .map(({ name }) => `${quoteIdentifier(name)} = ${nowSec}, `)
    .join('');
