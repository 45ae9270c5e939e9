import type { Envelope } from '@recordbus/crypto';
import {
  type Collection,
  type Field,
  fieldTypeOf,
  isEncrypted,
  openValue,
  quoteIdentifier,
  Refusal,
  tableOf,
} from '@recordbus/schema';
import { comparedValue, hasComparableValue, isText, isUnique } from './columns.ts';
import { compareFields, type FieldPair } from './compare-fields.ts';

/** A question to the rows of a table as it is: how many of them does a change of the schema leave in the wrong? */
export interface Check {
  /** Where the definition asks for it, as problems name places: `fields.title.required`. */
  readonly place: string;
  readonly table: string;
  /** The column that is looked at, quoted. */
  readonly column: string;
  /** SQL condition of the rows that stand against it, or may when `refuses` decides. */
  readonly where: string;
  readonly refuses?: (value: unknown) => boolean;
}

/** Everything that has to be asked before `planChange` is carried out (contract §8). */
export function planChecks(before: Collection, after: Collection, envelope: Envelope): Check[] {
  const { kept, added } = compareFields(before, after);
  const table = tableOf(before);
  return [
    ...kept.flatMap((pair) => checksOfKept(table, pair, envelope)),
    // A field that is new has no value in any row.
    ...added
      .filter(({ required }) => required)
      .map(({ name }) => ({ place: `fields.${name}.required`, table, column: 'id', where: 'true' })),
  ];
}

function checksOfKept(table: string, { old, now }: FieldPair, envelope: Envelope): Check[] {
  const column = quoteIdentifier(old.name);
  const place = `fields.${now.name}`;
  const checks: Check[] = [];
  if (now.required && !old.required) checks.push({ place: `${place}.required`, table, column, where: isEmpty(old) });
  if (isUnique(now) && !isUnique(old))
    checks.push({ place: `${place}.options.unique`, table, column, where: isDouble(table, old) });
  for (const { option, ...narrowing } of fieldTypeOf(now).narrowings?.(old, now, column) ?? []) {
    const asked = isEncrypted(old)
      ? { where: `${column} <> ''`, refuses: refusesOpened(option, now, envelope) }
      : narrowing;
    checks.push({ place: `${place}.options.${option}`, table, column, ...asked });
  }
  if (isEncrypted(old) !== isEncrypted(now))
    checks.push({
      place: `${place}.options.encrypted`,
      table,
      column,
      where: looksSealed(now),
      // A text that begins like a sealed one could not be told from it; one that can't be opened would be lost.
      ...(isEncrypted(old) && {
        refuses: (value) => typeof value === 'string' && !openValue(envelope, now, value).isOpen,
      }),
    });
  return checks;
}

/** Does one option of a field refuse what a sealed value was before it was sealed? One that can't be opened is let be. */
function refusesOpened(option: string, field: Field, envelope: Envelope): (value: unknown) => boolean {
  const read = fieldTypeOf(field).compile({ ...field, options: { [option]: field.options[option] } });
  return (value) => {
    if (typeof value !== 'string') return false;
    const opened = openValue(envelope, field, value);
    return opened.isOpen && read(opened.value) instanceof Refusal;
  };
}

/** SQL condition of the rows whose value begins like a sealed one. */
function looksSealed(field: Field): string {
  const column = quoteIdentifier(field.name);
  return `${isText(field) ? column : `(${column} #>> '{}')`} like 'enc:1:%'`;
}

/** What `required` refuses: null, the empty text and the empty list (contract §2, §8). */
function isEmpty(field: Field): string {
  const column = quoteIdentifier(field.name);
  if (isText(field)) return `coalesce(${column}, '') = ''`;
  if (fieldTypeOf(field).columnType(field) === 'jsonb') return `coalesce(${column}, '[]') in ('[]', '""')`;
  return `${column} is null`;
}

function isDouble(table: string, field: Field): string {
  const column = comparedValue(field);
  return `${column} in (select ${column} from ${table} where ${hasComparableValue(field)} group by ${column} having count(*) > 1)`;
}
