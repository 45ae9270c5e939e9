import { type Collection, type Field, isSetBy, quoteIdentifier } from '@recordbus/schema';
import { nowSec } from './version-sql.ts';
import type { ColumnSql } from './write-rows.ts';

/** SQL of the value of a field in a new row: the written value, or the current time for a field that a create sets. */
export const newValue = (field: Field, written: string): string =>
  isSetBy(field, 'onCreate') ? `coalesce(${written}, ${nowSec})` : written;

/** SQL of the value of a field that an update does not name: that of the row, or the current time if updates set it. */
export const nextValue = (field: Field, row: string): string =>
  isSetBy(field, 'onUpdate') ? nowSec : `${row}.${quoteIdentifier(field.name)}`;

/** The columns of times that every update sets. */
export const autodates = ({ fields }: Collection): readonly ColumnSql[] =>
  fields
    .filter((field) => isSetBy(field, 'onUpdate'))
    .map(({ name }) => ({ name: quoteIdentifier(name), value: nowSec }));
