import { validationFailed } from '@recordbus/errors';
import { startSlice } from '@recordbus/limits/time-slice';
import type { Collection } from './collection.ts';
import { isEncrypted, isStoredEncrypted } from './encrypted-values.ts';
import type { Field } from './field.ts';
import { type ValueReader, ValueRefusal } from './field-type.ts';
import { compileWithoutUploads, file } from './fields/file.ts';
import { fieldTypeOf } from './fields/index.ts';
import { maxBodySteps } from './fields/text-pattern.ts';
import { isEmpty } from './is-empty.ts';
import { PlainSecret } from './plain-secret.ts';
import { isOperatorObject, ValueOperation, type ValueOperators } from './value-operators.ts';

/** Written values, ready for the columns: only the fields that the body names, null for no value. */
export type ColumnValues = ReadonlyMap<string, unknown>;

interface ChangeOptions {
  /** Whether operators may replace values (records §6.3). They are read into a ValueOperation. */
  readonly takesOperators?: boolean;
}

/** Reads the bodies that write to one collection. A body that takes long is read in time slices, field by field. */
export interface RecordReader {
  /**
   * Checks a new record. Values that the server gives, such as a synthetic address, replace the body's and need not fit
   * the field's options. Throws 422 naming every field that is wrong or missing.
   */
  readNew(body: Readonly<Record<string, unknown>>, given?: ColumnValues): Promise<ColumnValues>;
  /** Checks a partial change, only the fields that the body names. Throws 422 naming every field that is wrong. */
  readChange(body: Readonly<Record<string, unknown>>, options?: ChangeOptions): Promise<ColumnValues>;
}

/**
 * Members that the server sets. A body may have them, so clients can send back a record that they read (records §5.2).
 */
const serverSet = new Set([
  'id',
  'created',
  'updated',
  'expand',
  'anonymous',
  'created_at',
  'updated_at',
  '_score',
  '_highlight',
  '_files',
]);

interface Column {
  readonly field: Field;
  readonly isServerSet: boolean;
  readonly emptyTextIsNull: boolean;
  /** The column's content for a record without a value. */
  readonly emptyValue: unknown;
  readonly read: ValueReader;
  readonly operators: ValueOperators | undefined;
  readonly stepsOf: ((value: unknown) => number) | undefined;
}

/**
 * Builds a collection's reader, once per schema version, since building costs far more than reading. With `takesFiles`
 * false nothing can be uploaded, so file names are refused: no such file exists.
 */
export function compileRecordReader(collection: Collection, { takesFiles = true } = {}): RecordReader {
  const columns = new Map<string, Column>(
    collection.fields.map((field) => {
      const type = fieldTypeOf(field);
      const { isServerSet = false, emptyTextIsNull } = type;
      // The one system field that may be left out is `verified`, which is then false.
      const emptyValue = field.system ? false : (type.emptyValue?.(field) ?? null);
      const read = takesFiles || type !== file ? type.compile(field) : compileWithoutUploads(field);
      const operators = type.operators?.(field);
      const stepsOf = type.compileSteps?.(field);
      return [field.name, { field, isServerSet, emptyTextIsNull, emptyValue, read, operators, stepsOf }];
    }),
  );
  const required = [...columns.values()]
    .filter(({ field, isServerSet }) => field.required && !isServerSet)
    .map(({ field }) => field.name);
  const emptyValues = [...columns.values()]
    .filter(({ field, emptyValue }) => !field.required && !field.system && emptyValue !== null)
    .map(({ field, emptyValue }): [string, unknown] => [field.name, emptyValue]);

  async function read(
    body: Readonly<Record<string, unknown>>,
    mustHave: readonly string[],
    { given = new Map(), takesOperators = false }: ChangeOptions & { readonly given?: ColumnValues | undefined },
  ): Promise<ColumnValues> {
    const slice = startSlice();
    let steps = 0;
    const values = new Map(given);
    // A Map, since a field may be called like a member that every object inherits.
    const problems = new Map<string, string>();
    for (const [name, written] of Object.entries(body)) {
      const column = columns.get(name);
      if (column?.isServerSet || given.has(name)) continue;
      if (column) {
        if (slice.isOver()) await slice.pause();
        steps += column.stepsOf?.(written) ?? 0;
        const value = steps > maxBodySteps ? tooExpensive : readWritten(column, written, takesOperators);
        if (value instanceof ValueRefusal) problems.set(name, value.message);
        else values.set(name, value);
      } else if (!serverSet.has(name)) problems.set(name, `is not a field of ${collection.name}`);
    }
    for (const name of mustHave) {
      if (!values.has(name) && !problems.has(name)) problems.set(name, 'is required');
    }
    if (problems.size > 0) throw validationFailed(Object.fromEntries(problems));
    return values;
  }

  return {
    async readNew(body, given) {
      const values = await read(collection.type === 'auth' ? { verified: false, ...body } : body, required, { given });
      return emptyValues.length === 0 ? values : new Map([...emptyValues, ...values]);
    },
    readChange: (body, options = {}) => read(body, [], options),
  };
}

const tooExpensive = new ValueRefusal('is too long to be checked against its pattern together with the other fields');

/** Reads a value, or the operators that replace it. */
function readWritten(column: Column, written: unknown, takesOperators: boolean): unknown {
  if (!takesOperators || !column.operators || !isOperatorObject(written)) return readValue(column, written);
  const operand = column.operators.read(written);
  return operand instanceof ValueRefusal ? operand : new ValueOperation(operand);
}

function readValue({ field, emptyTextIsNull, emptyValue, read }: Column, written: unknown): unknown {
  const value = written === undefined || (written === '' && emptyTextIsNull) ? null : written;
  if (field.required && isEmpty(value)) return new ValueRefusal('is required');
  if (value === null) return emptyValue;
  const stored = read(value);
  return isEncrypted(field) ? readSecret(field, stored) : stored;
}

/** A value to encrypt. It may not begin like a ciphertext, since values without a key are stored as plain text. */
function readSecret(field: Field, stored: unknown): unknown {
  if (typeof stored !== 'string') return stored;
  if (isStoredEncrypted(field, stored)) return new ValueRefusal('must not begin with enc:1:');
  return new PlainSecret(stored, 'value');
}
