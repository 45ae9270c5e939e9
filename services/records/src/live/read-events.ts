import { cutMembers } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import type { LiveEvent } from '@recordbus/live';
import { inSlices } from '@recordbus/shared/time-slice';
import { readVersion } from '../record/version.ts';
import type { CompiledPlan } from './compile-plan.ts';
import { eventMembers } from './event-rows.ts';

/** An event, and the rows to judge. */
export interface ReadEvent {
  readonly event: LiveEvent;
  /** The id of the record; undefined for a large event that is gone and names no record. */
  readonly id: string | undefined;
  /** JSON text of the record before the write; undefined if it cannot be judged. */
  readonly before: string | undefined;
  /** JSON text of the record after the write; undefined for a delete, or if the stored record is judged. */
  readonly after: string | undefined;
  readonly changed: readonly string[];
}

/** Reads the `data` of events, in order. Large events are read from the database. */
export async function readEvents(query: Query, plan: CompiledPlan, events: readonly LiveEvent[]): Promise<ReadEvent[]> {
  const large = await readLarge(query, events);
  const members = eventMembers(plan.collection);
  const read: ReadEvent[] = [];
  for await (const event of inSlices(events))
    read.push(readEvent(event, event.data ?? large.get(event.id), plan, members));
  return read;
}

function readEvent(
  event: LiveEvent,
  data: string | undefined,
  plan: CompiledPlan,
  members: readonly string[],
): ReadEvent {
  if (data === undefined) return { event, id: event.record, before: undefined, after: undefined, changed: [] };
  const parts = cutMembers(data);
  const record = parts.get('record') ?? 'null';
  const { id, names } = readMembers(record);
  const isCurrent = isSameList(names, members);
  const previous = parts.get('previous');
  const before = event.verb === 'delete' ? record : event.verb === 'update' ? previous : undefined;
  // Before the collection was changed, the same names may have belonged to other fields.
  const isLater = (readVersion(event.version)?.atSec ?? 0) > plan.collection.updatedAtSec;
  return {
    event,
    id,
    before: before !== undefined && hasAll(before, plan.ownFields) ? before : undefined,
    after: event.verb === 'delete' || plan.needsStored || !isCurrent || !isLater ? undefined : record,
    changed: readNames(parts.get('changed')),
  };
}

function readMembers(record: string): { readonly id: string | undefined; readonly names: readonly string[] } {
  const parsed: unknown = JSON.parse(record);
  if (typeof parsed !== 'object' || parsed === null) return { id: undefined, names: [] };
  const { id } = parsed as { readonly id?: unknown };
  return { id: typeof id === 'string' ? id : undefined, names: Object.keys(parsed) };
}

/** Whether the record has all these members. An event that is older than a change of the schema may lack some. */
function hasAll(record: string, members: readonly string[]): boolean {
  if (members.length === 0) return true;
  const { names } = readMembers(record);
  return members.every((name) => names.includes(name));
}

function readNames(changed: string | undefined): readonly string[] {
  const names: unknown = changed === undefined ? [] : JSON.parse(changed);
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

const isSameList = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);

/** The `data` of the large events that are still stored, by the ids of the events. */
async function readLarge(query: Query, events: readonly LiveEvent[]): Promise<ReadonlyMap<string, string>> {
  const ids = events.flatMap(({ id, data }) => (data === undefined ? [id] : []));
  if (ids.length === 0) return new Map();
  const rows = await query<{ id: string; body: string }>({
    text: 'select id, body from system.large_events where id = any($1::uuid[])',
    values: [ids],
  });
  return new Map(rows.map(({ id, body }) => [id, cutMembers(body).get('data') ?? 'null']));
}
