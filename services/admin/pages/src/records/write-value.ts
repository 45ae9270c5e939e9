import { isConflict } from '@recordbus/client';
import { client } from '../api/client.ts';
import type { AnyRecord } from '../api/records.ts';
import { readable } from '../ui/unreadable.ts';
import { sameValue } from './form-values.ts';

/** The types that are edited in a cell. Rich texts, files and vectors need more room. */
const inlineTypes: ReadonlySet<string> = new Set([
  'text',
  'number',
  'bool',
  'date',
  'select',
  'email',
  'url',
  'relation',
  'geoPoint',
  'json',
]);

export const isInline = (type: string): boolean => inlineTypes.has(type);

/** Someone else changed the value that the user saw. */
export class ConflictingValue extends Error {
  readonly record: AnyRecord;

  constructor(record: AnyRecord) {
    super('the value has changed');
    this.record = record;
  }
}

/** How often to read again when other fields of the record change at the same time. */
const maxTries = 5;

/**
 * Writes one value of a record, and returns the record, with the related records if `expand` names the field. Other fields
 * may have changed since; throws a `ConflictingValue` if this one has.
 */
export async function writeValue(
  collection: string,
  id: string,
  name: string,
  { seen, value, expand }: { readonly seen: unknown; readonly value: unknown; readonly expand: readonly string[] },
): Promise<AnyRecord> {
  const values = readable({ [name]: value });
  const records = client.from(collection);
  for (let tries = 1; ; tries += 1) {
    const now = (await records.get(id)) as AnyRecord;
    if (!sameValue(now[name], seen)) throw new ConflictingValue(now);
    try {
      const written = (await records.update(now as never, values as never)) as AnyRecord;
      // Writes answer without related records. The value is saved, whatever becomes of this read.
      return expand.length === 0
        ? written
        : ((await records.get(id, { expand: expand as never }).catch(() => written)) as AnyRecord);
    } catch (error) {
      if (!isConflict(error) || tries === maxTries) throw error;
    }
  }
}
