import { AppError } from '@recordbus/errors';

/** The formats for imports and exports. */
export const formats = ['csv', 'ndjson', 'json'] as const;
export type Format = (typeof formats)[number];

/** The largest row: as large as a single write's body. */
export const maxRowBytes = 1024 * 1024;

/** How many columns a row, or members an object, may have, as in a single write. */
export const maxColumns = 10_000;

/** A body's row, before it is interpreted. */
export interface SourceRow {
  /** Its number, from 1. The CSV header has none. */
  readonly row: number;
  /** The position in the body after the row, in bytes. A reader that begins there reads the next row. */
  readonly end: number;
  /** The cells by column, or the object. */
  readonly members: Readonly<Record<string, unknown>>;
  /** Why the row cannot be read, as a message; undefined if it can. */
  readonly problem?: string | undefined;
  /** The row's text. */
  readonly text: () => string;
}

/** The position at which a reader begins. */
export interface ReadFrom {
  readonly position: number;
  /** The previous row's number. */
  readonly row: number;
}

/** Reads a body's rows in UTF-8. Throws the error from `brokenBody` if the body itself is broken. */
export type ReadRows = (source: AsyncIterable<Buffer>, from: ReadFrom) => AsyncIterable<SourceRow>;

/** 422 for a body that is broken at a place; row 0 is the CSV header. */
export const brokenBody = (message: string, place: { readonly row: number; readonly column?: number }): AppError => {
  const { row, column } = place;
  const at = row === 0 ? 'the header' : `row ${row}`;
  const where = column === undefined ? at : `${at}, column ${column}`;
  return new AppError(422, 'body_broken', `${where}: ${message}`, { details: { ...place } });
};
