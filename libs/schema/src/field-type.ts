import type { JsonSchema } from '@recordbus/shared/http';
import type { z } from 'zod';
import type { Field } from './field.ts';

/** Why a written value is refused, as the client reads it: "must be a number". */
export class Refusal {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** Reads a written JSON value into what the column takes, or refuses it. Never gets null, undefined or an empty value. */
export type ValueReader = (value: unknown) => unknown | Refusal;

/** Something that a new definition of a field refuses and the old one took. */
export interface Narrowing {
  /** Name of the option that makes the difference. */
  readonly option: string;
  /** SQL condition for the rows whose value is refused, or may be when `refuses` decides. */
  readonly where: string;
  /** Decides about the value of such a row where SQL can't. */
  readonly refuses?: (value: unknown) => boolean;
}

/** Everything that is particular to one type of field; one file each in `fields/`, listed in `fields/index.ts`. */
export interface FieldType {
  readonly name: string;
  /** The options a definition may carry, strict, with their defaults. */
  readonly options: z.ZodType<Record<string, unknown>>;
  /** Does the definition name a target collection? */
  readonly refersToCollection?: boolean;
  /** SQL type of the column. */
  columnType(field: Field): string;
  /** Is what a client writes ignored, since the server sets the value? */
  readonly isServerSet?: boolean;
  /** Does `""` stand for no value? Otherwise it is a value like any other. */
  readonly emptyTextIsNull: boolean;
  /** What the column holds where there is no value; null when not given. */
  emptyValue?(field: Field): unknown;
  /** The JSON Schema of a value as records show it; null for no value comes on top of it. */
  valueSchema(field: Field): JsonSchema;
  /** The JSON Schema of what may be written, where that is not the same. */
  writtenSchema?(field: Field): JsonSchema;
  /** Builds the reader once per schema version. */
  compile(field: Field): ValueReader;
  /**
   * What stored values may stand against when the field's options change; `column` is its column, quoted. Not for
   * `required` and `unique`, which are the same for every type.
   */
  narrowings?(before: Field, after: Field, column: string): readonly Narrowing[];
}
