import { cutMembers } from '@recordbus/bus';
import type { Collection } from '@recordbus/schema';

/** A record's event, with each member's original text. */
export interface RecordChange {
  readonly collection: Collection;
  readonly action: 'create' | 'update' | 'delete';
  readonly record: ReadonlyMap<string, string>;
  /** The record before an update. */
  readonly previous: ReadonlyMap<string, string> | undefined;
  /** The names that an update changed. */
  readonly changed: readonly string[];
}

/** Reads the body that admins' webhooks get (webhooks §3.2). Undefined for an event without a record. */
export function readChange(event: string, body: string, collection: Collection): RecordChange | undefined {
  const action = (['create', 'update', 'delete'] as const).find((one) => event.endsWith(`.${one}`));
  const data = cutMembers(cutMembers(body).get('data') ?? '{}');
  const record = data.get('record');
  if (action === undefined || record === undefined) return undefined;
  const previous = data.get('previous');
  return {
    collection,
    action,
    record: cutMembers(record),
    previous: previous === undefined ? undefined : cutMembers(previous),
    changed: JSON.parse(data.get('changed') ?? '[]'),
  };
}

/** The JSON text of an object with these members. */
export const objectText = (members: Iterable<readonly [string, string]>): string =>
  `{${[...members].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
