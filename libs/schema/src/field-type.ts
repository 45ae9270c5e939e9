import type { JsonSchema } from '@recordbus/http';
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

/** Converts a written JSON value to the column's value, or refuses it. Never gets null, undefined or an empty value. */
export type ValueReader = (value: unknown) => unknown | ValueRefusal;

/**
 * How filters compare a value. A `list` is a JSON array with texts (several selected values, several files), a `date`
 * is unix seconds, a `vector` compares with null only.
 */
export type ValueKind = 'text' | 'number' | 'date' | 'bool' | 'list' | 'json' | 'vector';

/** How a form's text parts represent a value. */
export interface FormText {
  /** Whether `read` parses a text as JSON; the caller bounds what that costs first. */
  isJson(text: string): boolean;
  /** Whether a field may have a part for each value. */
  readonly takesSeveral: boolean;
  /** Reads one field's text parts. A text that cannot be read stays text, which the field then refuses. */
  read(texts: readonly string[]): unknown;
}

/** A field definition, and values that it takes. */
export interface FieldSample {
  /** The definition's options; none by default. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** JSON values that the field takes. Each reads back as it was written, unless the type is write-only. */
  readonly values: readonly unknown[];
}

/** A restriction by which a field's new definition may refuse values that the old one accepted. */
export interface Narrowing {
  /** Name of the option that makes the difference. */
  readonly option: string;
  /** SQL condition for the rows whose value is refused, or may be when `refuses` decides. */
  readonly where: string;
  /** Checks a row's stored value that the SQL selects. Missing if the SQL alone decides. */
  readonly refuses?: (value: unknown) => boolean;
}

/**
 * Everything particular to one field type. Each type is one file in `fields/`, one line in `fields/index.ts` and one
 * section in the reference.
 */
export interface FieldType {
  readonly name: string;
  /** The reference section that describes the type. */
  readonly reference: string;
  /** The options that a definition may have, strict, with their defaults. */
  readonly options: z.ZodType<Record<string, unknown>>;
  /**
   * Definitions and values for tests and for the API document's examples. A type with `multiple` has samples with and
   * without it.
   */
  readonly samples: readonly [FieldSample, ...FieldSample[]];
  /** Whether the definition names a target collection. */
  readonly refersToCollection?: boolean;
  /** The column's SQL type. */
  columnType(field: Field): string;
  /** How filters, sorts and rules compare a value. */
  filterKind(field: Field): ValueKind;
  /**
   * The type that a view's field has if its values come from a field of this type unchanged. Undefined when the view
   * derives it from its column's SQL type.
   */
  readonly viewType: string | undefined;
  /** How a value is written in a form. */
  formText(field: Field): FormText;
  /** Whether the server sets the value and ignores what a client writes. */
  readonly isServerSet?: boolean;
  /** Whether a definition has its options next to `options`, as the API shows it. */
  readonly hasOuterOptions?: boolean;
  /** Whether a stored value's JSON may be much longer than the written one. */
  readonly mayGrow?: boolean;
  /** Whether a value is stored but never shown, neither in answers nor in events. */
  readonly isWriteOnly?: boolean;
  /** Whether `""` means no value. Otherwise it is a value like any other. */
  readonly emptyTextIsNull: boolean;
  /** The column's content for a record without a value; null by default. */
  emptyValue?(field: Field): unknown;
  /** SQL for the expression that `unique` compares, from a quoted column; the column itself by default. */
  uniqueSql?(column: string, field: Field): string;
  /** The JSON Schema for a value in records. Null, for no value, is added to it. */
  valueSchema(field: Field): JsonSchema;
  /** The JSON Schema for a written value, if it differs. */
  writtenSchema?(field: Field): JsonSchema;
  /** Builds the reader once per schema version. */
  compile(field: Field): ValueReader;
  /** The operators that an update takes instead of a value (records §6.3); undefined when it takes none. */
  operators?(field: Field): ValueOperators | undefined;
  /** Builds the cost, in steps, of searching a written value for a pattern; undefined when none is searched. */
  compileSteps?(field: Field): ((value: unknown) => number) | undefined;
  /**
   * Returns the restrictions that stored values may violate when the field's options change; `column` is its column,
   * quoted. `required` and `unique` are not included: they are the same for every type.
   */
  narrowings?(before: Field, after: Field, column: string): readonly Narrowing[];
}
