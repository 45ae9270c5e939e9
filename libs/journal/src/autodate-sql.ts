import { type Collection, type Field, isSetBy, quoteIdentifier } from '@recordbus/schema';
import { nowSec } from './version-sql.ts';
import type { ColumnSql } from './write-rows.ts';

/** A field's value in a new row, as SQL: the written value, or the current time if creates set the field. */
export const newValue = (field: Field, written: string): string =>
  isSetBy(field, 'onCreate') ? `coalesce(${written}, ${nowSec})` : written;

/**
 * The value of a field that an update does not name, as SQL: the row's, or the current time if updates set the field.
 */
export const nextValue = (field: Field, row: string): string =>
  isSetBy(field, 'onUpdate') ? nowSec : `${row}.${quoteIdentifier(field.name)}`;

/** The time columns that every update sets. */
export const autodates = ({ fields }: Collection): readonly ColumnSql[] =>
  fields
    .filter((field) => isSetBy(field, 'onUpdate'))
    .map(({ name }) => ({ name: quoteIdentifier(name), value: nowSec }));
