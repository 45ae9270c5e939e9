import type { Collection } from '@recordbus/schema';
import { changedNames } from '../language/ast.ts';
import type { Member } from './member.ts';
import { memberCollection } from './member-collection.ts';
import { outerRecord } from './path.ts';
import type { QuerySchema, Scope } from './scope.ts';

/** The segment that leads to the record before the write. */
export const previousRecord = 'previous';

const text = (column: string): Member => ({ column, kind: 'text' });

const facts = memberCollection(
  'the event',
  new Map([
    ['event', text('event')],
    [changedNames, { column: 'changed', kind: 'list' }],
  ]),
);

const actor = memberCollection(
  'actor',
  new Map([
    ['type', text('actor_type')],
    ['id', text('actor_id')],
  ]),
);

/**
 * What a webhook's filter may name: the event's facts, and its record before and after the write. Events without a
 * collection have only facts.
 */
export function eventScope(collection: Collection | undefined, schema: QuerySchema): Scope {
  const base = { schema, audience: 'admin' } as const;
  const records = collection && { ...base, collection };
  return {
    ...base,
    collection: facts,
    roots: new Map([
      ['actor', { scope: { ...base, collection: actor }, up: 0 }],
      ...(records
        ? [[outerRecord, { scope: records, up: 1 }] as const, [previousRecord, { scope: records, up: 2 }] as const]
        : []),
    ]),
  };
}
