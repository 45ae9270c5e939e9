import type { JsonSchema } from '@recordbus/shared/http';
import type { z } from 'zod';
import type { Field } from './field.ts';
import type { ValueOperators } from './value-operators.ts';

/** Why a written value is refused, as the client reads it: "must be a number". */
export class ValueRefusal {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/**
 * Converts a written JSON value to the value of the column, or refuses it. Never gets null, undefined or an empty
 * value.
 */
export type ValueReader = (value: unknown) => unknown | ValueRefusal;

/**
 * How filters compare a value. A `list` is a JSON array of texts (several selected values, several files), a `date` is
 * unix seconds, a `vector` compares with null only.
 */
export type ValueKind = 'text' | 'number' | 'date' | 'bool' | 'list' | 'json' | 'vector';

/** How the text parts of a form represent a value. */
export interface FormText {
  /** Whether `read` parses a text as JSON; the caller bounds what that costs first. */
  isJson(text: string): boolean;
  /** Whether a field may have a part for each of its values. */
  readonly takesSeveral: boolean;
  /** Reads all text parts of one field. A text that cannot be read stays text, which the field then refuses. */
  read(texts: readonly string[]): unknown;
}

/** A definition of a field, and values that it takes. */
export interface FieldSample {
  /** The options of the definition; none by default. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** JSON values that the field takes. Each reads back as it was written, unless the type is write-only. */
  readonly values: readonly unknown[];
}

/** A restriction by which a new definition of a field may refuse values that the old one accepted. */
export interface Narrowing {
  /** Name of the option that makes the difference. */
  readonly option: string;
  /** SQL condition for the rows whose value is refused, or may be when `refuses` decides. */
  readonly where: string;
  /** Checks the stored value of a row that the SQL selects. Missing if the SQL alone decides. */
  readonly refuses?: (value: unknown) => boolean;
}

/**
 * Everything that is particular to one type of field. Each type is one file in `fields/`, one line in `fields/index.ts`
 * and one section of the reference.
 */
export interface FieldType {
  readonly name: string;
  /** The section of the reference that describes the type. */
  readonly reference: string;
  /** The options that a definition may have, strict, with their defaults. */
  readonly options: z.ZodType<Record<string, unknown>>;
  /**
   * Definitions and values for tests and for the examples of the API document. A type with `multiple` has samples with
   * and without it.
   */
  readonly samples: readonly [FieldSample, ...FieldSample[]];
  /** Whether the definition names a target collection. */
  readonly refersToCollection?: boolean;
  /** SQL type of the column. */
  columnType(field: Field): string;
  /** How filters, sorts and rules compare a value. */
  filterKind(field: Field): ValueKind;
  /**
   * The type of a view's field whose values come from a field of this type unchanged. Undefined when the view computes
   * the type from the SQL type of its column.
   */
  readonly viewType: string | undefined;
  /** How a value is written in a form. */
  formText(field: Field): FormText;
  /** Whether the server sets the value and ignores what a client writes. */
  readonly isServerSet?: boolean;
  /** Whether a definition has its options next to `options`, as the API shows it. */
  readonly hasOuterOptions?: boolean;
  /** Whether the JSON of a stored value may be much longer than the written one. */
  readonly mayGrow?: boolean;
  /** Whether a value is stored but never shown, neither in answers nor in events. */
  readonly isWriteOnly?: boolean;
  /** Whether `""` means no value. Otherwise it is a value like any other. */
  readonly emptyTextIsNull: boolean;
  /** The content of the column for a record without a value; null by default. */
  emptyValue?(field: Field): unknown;
  /** SQL of the expression that `unique` compares, from a quoted column; the column itself by default. */
  uniqueSql?(column: string): string;
  /** The JSON Schema of a value in records. Null, for no value, is added to it. */
  valueSchema(field: Field): JsonSchema;
  /** The JSON Schema of a written value, if it differs. */
  writtenSchema?(field: Field): JsonSchema;
  /** Builds the reader once per schema version. */
  compile(field: Field): ValueReader;
  /** The operators that an update takes instead of a value (records §6.3); undefined when it takes none. */
  operators?(field: Field): ValueOperators | undefined;
  /** Builds the cost of a written value that is searched for a pattern, in steps; undefined when none is searched. */
  compileSteps?(field: Field): ((value: unknown) => number) | undefined;
  /**
   * Returns the restrictions that stored values may violate when the field's options change; `column` is its column,
   * quoted. `required` and `unique` are not included: they are the same for every type.
   */
  narrowings?(before: Field, after: Field, column: string): readonly Narrowing[];
}
