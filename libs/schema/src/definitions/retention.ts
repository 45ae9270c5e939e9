import { z } from 'zod';
import { type Collection, type Retention, retainActions } from '../collection.ts';
import type { Field } from '../field.ts';
import { fieldTypeOf } from '../fields/index.ts';

/** A hundred years. */
const maxDays = 36_500;
const maxVersions = 1_000_000;

const days = z.int('must be a whole number').min(1, 'must be at least 1').max(maxDays, `must be at most ${maxDays}`);

/** How long records stay (privacy §3.1). */
export const retainJson = z.strictObject({
  days: days.describe('how many days records stay'),
  field: z
    .string('must be a string')
    .max(100, 'must have at most 100 characters')
    .default('created')
    .describe('from which time on: a date or autodate field, created or updated'),
  action: z
    .enum(retainActions, 'must be delete or redact')
    .default('delete')
    .describe('whether records are erased, or stay without their values'),
});

/** Which versions stay (history §7). */
export const historyKeepJson = z
  .strictObject({
    days: days.optional().describe('versions that are older go'),
    versions: z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .max(maxVersions, `must be at most ${maxVersions}`)
      .optional()
      .describe('how many versions of a record stay'),
  })
  .refine((given) => given.days !== undefined || given.versions !== undefined, 'must have days or versions')
  .meta({ id: 'HistoryKeep' });

const timeColumns: Readonly<Record<string, string>> = { created: 'created_at', updated: 'updated_at' };

const isDate = (field: Field): boolean => fieldTypeOf(field).filterKind(field) === 'date';

/** Finds what a retention counts from: a date field's id or a time column; undefined when the name is neither. */
export const findRetainedBy = ({ fields }: Pick<Collection, 'fields'>, name: string): string | undefined =>
  timeColumns[name] ?? fields.find((field) => field.name === name && isDate(field))?.id;

/** Returns the column with a retention's times; undefined when its field is gone. */
export function retainedColumn({ fields }: Pick<Collection, 'fields'>, { field }: Retention): string | undefined {
  if (Object.values(timeColumns).includes(field)) return field;
  return fields.find((one) => one.id === field && isDate(one))?.name;
}

/** Shows a retention, with its field's name. */
export function presentRetain(collection: Collection): { readonly retain?: z.output<typeof retainJson> } {
  const { retain } = collection;
  if (!retain) return {};
  const column = retainedColumn(collection, retain) ?? retain.field;
  const name = Object.keys(timeColumns).find((key) => timeColumns[key] === column) ?? column;
  return { retain: { days: retain.days, field: name, action: retain.action } };
}
