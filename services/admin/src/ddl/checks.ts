import type { ValueCipher } from '@recordbus/crypto';
import {
  type Collection,
  comparedBy,
  comparedValue,
  decryptValue,
  type Field,
  fieldTypeOf,
  hasComparableValue,
  isComparedAlike,
  isEncrypted,
  isText,
  isUnique,
  quoteIdentifier,
  tableOf,
  ValueRefusal,
} from '@recordbus/schema';
import { compareFields, type FieldPair } from './compare-fields.ts';

/** Checks a table's stored rows: how many violate a schema change. */
export interface Check {
  /** The place in the definition, as problems name it: `fields.title.required`. */
  readonly place: string;
  readonly table: string;
  /** The checked column, quoted. */
  readonly column: string;
  /** SQL condition for the rows that violate it; with `refuses`, for the candidates. */
  readonly where: string;
  readonly refuses?: (value: unknown) => boolean;
}

/** Returns the checks to run before the statements from `planChange` (collections §6.4). */
export function planChecks(before: Collection, after: Collection, cipher: ValueCipher): Check[] {
  const { kept, added } = compareFields(before, after);
  const table = tableOf(before);
  return [
    ...kept.flatMap((pair) => checksOfKept(table, pair, cipher)),
    // A new field has no value in any row.
    ...added
      .filter(({ required }) => required)
      .map(({ name }) => ({ place: `fields.${name}.required`, table, column: 'id', where: 'true' })),
  ];
}

/** Returns the checks for fields that become required. They run on the changed table. */
export function planRequiredChecks(before: Collection, after: Collection): Check[] {
  const table = tableOf(after);
  const wasRequired = new Set(before.fields.filter(({ required }) => required).map(({ id }) => id));
  return after.fields
    .filter(({ id, required }) => required && !wasRequired.has(id))
    .map((field) => ({
      place: `fields.${field.name}.required`,
      table,
      column: quoteIdentifier(field.name),
      where: isEmpty(field),
    }));
}

/** Returns the checks for new unique indexes. They run on the table before the change; a new field has no values. */
export function planUniqueChecks(before: Collection, after: Collection): Check[] {
  const table = tableOf(before);
  const known = new Set((before.indexes ?? []).map(({ id }) => id));
  return (after.indexes ?? []).flatMap((index, position) => {
    const fields = index.columns.map((column) => before.fields.find(({ id }) => id === column) ?? column);
    const isOld = fields.every((field) => typeof field !== 'string' || systemColumns.has(field));
    if (!index.unique || known.has(index.id) || !isOld) return [];
    const columns = fields.map((field) => (typeof field === 'string' ? field : comparedValue(field)));
    const conditions = fields.flatMap((field) => (typeof field === 'string' ? [] : [hasComparableValue(field)]));
    const compared = conditions.length > 0 ? conditions.join(' and ') : 'true';
    return {
      place: `indexes.${position}.unique`,
      table,
      column: 'id',
      where: `${compared} and (${columns.join(', ')}) in (select ${columns.join(', ')} from ${table}
        where ${compared} group by ${columns.join(', ')} having count(*) > 1)`,
    };
  });
}

const systemColumns: ReadonlySet<string> = new Set(['id', 'created_at', 'updated_at']);

function checksOfKept(table: string, { old, now }: FieldPair, cipher: ValueCipher): Check[] {
  const column = quoteIdentifier(old.name);
  const place = `fields.${now.name}`;
  const checks: Check[] = [];
  if (now.required && !old.required) checks.push({ place: `${place}.required`, table, column, where: isEmpty(old) });
  if (isUnique(now) && !isUnique(old))
    checks.push({ place: `${place}.options.unique`, table, column, where: isDuplicate(table, { old, now }) });
  if (isUnique(now) && isUnique(old) && !isComparedAlike(old, now))
    checks.push({ place: `${place}.options.ignoreCase`, table, column, where: isDuplicate(table, { old, now }) });
  for (const { option, ...narrowing } of fieldTypeOf(now).narrowings?.(old, now, column) ?? []) {
    const condition = isEncrypted(old)
      ? { where: `${column} <> ''`, refuses: refusesDecrypted(option, now, cipher) }
      : narrowing;
    checks.push({ place: `${place}.options.${option}`, table, column, ...condition });
  }
  if (isEncrypted(old) !== isEncrypted(now))
    checks.push({
      place: `${place}.options.encrypted`,
      table,
      column,
      where: looksEncrypted(old),
      // A plain text with a ciphertext's prefix would be read as such; ciphertext that cannot be decrypted would be
      // lost.
      ...(isEncrypted(old) && {
        refuses: (value) => typeof value === 'string' && !decryptValue(cipher, now, value).isDecrypted,
      }),
    });
  return checks;
}

/** Returns whether one option refuses a decrypted value. It accepts values that cannot be decrypted. */
function refusesDecrypted(option: string, field: Field, cipher: ValueCipher): (value: unknown) => boolean {
  const read = fieldTypeOf(field).compile({ ...field, options: { [option]: field.options[option] } });
  return (value) => {
    if (typeof value !== 'string') return false;
    const opened = decryptValue(cipher, field, value);
    return opened.isDecrypted && read(opened.value) instanceof ValueRefusal;
  };
}

/** Returns the SQL condition for rows whose value has a ciphertext's prefix. */
function looksEncrypted(field: Field): string {
  const column = quoteIdentifier(field.name);
  return `${isText(field) ? column : `(${column} #>> '{}')`} like 'enc:1:%'`;
}

/**
 * Returns the SQL condition for values that `required` refuses: null, the empty text and the empty list (fields §2.1).
 */
export function isEmpty(field: Field): string {
  const column = quoteIdentifier(field.name);
  if (isText(field)) return `coalesce(${column}, '') = ''`;
  if (fieldTypeOf(field).columnType(field) === 'jsonb') return `coalesce(${column}, '[]') in ('[]', '""')`;
  return `${column} is null`;
}

/** Returns the SQL condition for values that are there twice, as the new definition compares them. */
function isDuplicate(table: string, { old, now }: FieldPair): string {
  const value = comparedBy(now, quoteIdentifier(old.name));
  return `${value} in (select ${value} from ${table} where ${hasComparableValue(old)} group by ${value} having count(*) > 1)`;
}
