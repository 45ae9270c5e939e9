import { validationFailed } from '@recordbus/shared/errors';
import type { Collection } from './collection.ts';
import { isEncrypted, isStoredSealed } from './encrypted-values.ts';
import type { Field } from './field.ts';
import { Refusal, type ValueReader } from './field-type.ts';
import { compileWithoutUploads, file } from './fields/file.ts';
import { fieldTypeOf } from './fields/index.ts';
import { PlainSecret } from './plain-secret.ts';

/** What a client wrote, ready for the columns: only the fields that the body names, null for no value. */
export type ColumnValues = ReadonlyMap<string, unknown>;

/** Reads the bodies of writes to one collection. */
export interface RecordReader {
  /**
   * Checks a whole new record. What the server gives by itself, such as an address that it makes up, stands in place of
   * what the body says and need not fit the field's options. Throws 422 naming every field that is wrong or missing.
   */
  readNew(body: Readonly<Record<string, unknown>>, given?: ColumnValues): ColumnValues;
  /** Checks a partial change: fields that the body leaves out are not looked at. */
  readChange(body: Readonly<Record<string, unknown>>): ColumnValues;
}

/** Members of a record that the server sets: ignored in a body, so a record that was read can be sent back (contract §2, §8). */
const serverSet = new Set(['id', 'created', 'updated', 'expand', 'anonymous', 'created_at', 'updated_at', '_score']);

interface Column {
  readonly field: Field;
  readonly isServerSet: boolean;
  readonly emptyTextIsNull: boolean;
  /** What the column holds where there is no value. */
  readonly emptyValue: unknown;
  readonly read: ValueReader;
}

/**
 * Builds the reader of a collection; once per schema version, since building costs far more than reading. Where nothing
 * can be uploaded (`takesFiles` false) the name of a file is refused: it would be made up.
 */
export function compileRecordReader(collection: Collection, { takesFiles = true } = {}): RecordReader {
  const columns = new Map<string, Column>(
    collection.fields.map((field) => {
      const type = fieldTypeOf(field);
      const { isServerSet = false, emptyTextIsNull } = type;
      // The one system field that may be left empty is `verified`, and nobody is verified who is not said to be.
      const emptyValue = field.system ? false : (type.emptyValue?.(field) ?? null);
      const read = takesFiles || type !== file ? type.compile(field) : compileWithoutUploads(field);
      return [field.name, { field, isServerSet, emptyTextIsNull, emptyValue, read }];
    }),
  );
  const required = [...columns.values()]
    .filter(({ field, isServerSet }) => field.required && !isServerSet)
    .map(({ field }) => field.name);
  const emptyValues = [...columns.values()]
    .filter(({ field, emptyValue }) => !field.required && !field.system && emptyValue !== null)
    .map(({ field, emptyValue }): [string, unknown] => [field.name, emptyValue]);

  function read(
    body: Readonly<Record<string, unknown>>,
    mustHave: readonly string[],
    given: ColumnValues = new Map(),
  ): ColumnValues {
    const values = new Map(given);
    // A Map, since a field may be called like a member that every object inherits.
    const problems = new Map<string, string>();
    for (const [name, written] of Object.entries(body)) {
      const column = columns.get(name);
      if (column?.isServerSet || given.has(name)) continue;
      if (column) {
        const value = readValue(column, written);
        if (value instanceof Refusal) problems.set(name, value.message);
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
    readNew(body, given) {
      const values = read(collection.type === 'auth' ? { verified: false, ...body } : body, required, given);
      return emptyValues.length === 0 ? values : new Map([...emptyValues, ...values]);
    },
    readChange: (body) => read(body, []),
  };
}

function readValue({ field, emptyTextIsNull, emptyValue, read }: Column, written: unknown): unknown {
  const value = written === undefined || (written === '' && emptyTextIsNull) ? null : written;
  if (field.required && isEmpty(value)) return new Refusal('is required');
  if (value === null) return emptyValue;
  const stored = read(value);
  return isEncrypted(field) ? readSecret(field, stored) : stored;
}

/** A value that is to be sealed. None begins like a sealed one, so that those stored without a key can be told apart. */
function readSecret(field: Field, stored: unknown): unknown {
  if (typeof stored !== 'string') return stored;
  if (isStoredSealed(field, stored)) return new Refusal('must not begin with enc:1:');
  return new PlainSecret(stored, 'value');
}

/** `required` means present, not null, not the empty string and not the empty list (contract §2, §8). */
const isEmpty = (value: unknown) => value === null || value === '' || (Array.isArray(value) && value.length === 0);
