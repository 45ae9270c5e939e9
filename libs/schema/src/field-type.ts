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

/** Everything that is particular to one type of field; one file each in `fields/`, listed in `fields/index.ts`. */
export interface FieldType {
  readonly name: string;
  /** The options a definition may carry, strict, with their defaults. */
  readonly options: z.ZodType<Record<string, unknown>>;
  /** Does the definition name a target collection? */
  readonly refersToCollection?: boolean;
  /** SQL type of the column. */
  columnType(field: Field): string;
  /** Does `""` stand for no value? Otherwise it is a value like any other. */
  readonly emptyTextIsNull: boolean;
  /** Builds the reader once per schema version. */
  compile(field: Field): ValueReader;
}
