import { cutMembers } from '@recordbus/bus';
import { type Collection, recordColumns } from '@recordbus/schema';
import { objectText, type RecordChange } from './record-change.ts';

/** What an owner gets: the whole change, the record without its past, or only that it has left. */
export type Share = 'all' | 'entered' | 'left';

/**
 * Decides what an owner gets (webhooks §9.3). `held` and `holds` say whether the rule holds for the record before and after
 * the change. Undefined for nothing.
 */
export function shareOf(
  { action }: Pick<RecordChange, 'action'>,
  { held, holds }: { readonly held: boolean; readonly holds: boolean },
): Share | undefined {
  if (action !== 'update') return holds ? 'all' : undefined;
  if (holds) return held ? 'all' : 'entered';
  return held ? 'left' : undefined;
}

/** Returns the body that an owner gets: the given one without everything that is not its share (webhooks §9.3). */
export function ownerBody(body: string, event: string, change: RecordChange, share: Share): string {
  const members = cutMembers(body);
  members.set('event', JSON.stringify(event));
  members.set(
    'data',
    share === 'left' ? objectText([['id', change.record.get('id') ?? 'null']]) : dataOf(change, share),
  );
  return objectText(members);
}

function dataOf({ collection, record, previous, changed }: RecordChange, share: Share): string {
  const shown = shownMembers(collection);
  const text = (members: ReadonlyMap<string, string>) => objectText([...members].filter(([name]) => shown.has(name)));
  const data: [string, string][] = [['record', text(record)]];
  if (share === 'all' && previous) {
    data.push(['previous', text(previous)]);
    data.push(['changed', JSON.stringify(changed.filter((name) => shown.has(name)))]);
  }
  return objectText(data);
}

/** The members that everyone sees who reads the record. A field with its own rule is not among them. */
function shownMembers(collection: Collection): ReadonlySet<string> {
  const ruled = new Set(collection.fields.filter(({ viewRule }) => viewRule != null).map(({ name }) => name));
  return new Set(
    recordColumns(collection)
      .map(({ name }) => name)
      .filter((name) => !ruled.has(name)),
  );
}
