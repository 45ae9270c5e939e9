import { cutMembers } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import { versionOf } from '@recordbus/journal';
import { inSlices } from '@recordbus/limits/time-slice';
import type { LiveEvent } from '@recordbus/live';
import { loadCollection, recordColumns, selectList, shapeOf, tableOf } from '@recordbus/schema';
import type { CompiledPlan } from './compile-plan.ts';

/** An event, and the rows to judge. */
export interface ReadEvent {
  readonly event: LiveEvent;
  /** The record before the write as JSON text; undefined for a create. */
  readonly before: string | undefined;
  /**
   * The record after the write as JSON text, with its encrypted fields if the plan shows some; undefined for a delete.
   */
  readonly after: string | undefined;
  readonly changed: readonly string[];
}

/** An event whose version is no longer known. */
export interface LostEvent {
  readonly event: LiveEvent;
  readonly isLost: true;
}

export const isKnown = (read: ReadEvent | LostEvent): read is ReadEvent => !('isLost' in read);

/** Where to find what messages leave out. */
interface EventSources {
  /** Reads the records that the callers see. */
  readonly read: Query;
  /** Reads large events and sealed values. */
  readonly readSystem: Query;
}

/**
 * Reads the events' `data`, in order. Large events and encrypted values are read from the database. An event with
 * another shape (`shapeOf`) does not say what its record's fields are now. Then the stored record is read, which has
 * the same version unless it was written again. Without it, and for a rule that must judge an earlier state, the event
 * is lost.
 */
export async function readEvents(
  { read, readSystem }: EventSources,
  plan: CompiledPlan,
  events: readonly LiveEvent[],
): Promise<(ReadEvent | LostEvent)[]> {
  const large = await readLarge(readSystem, events);
  const shape = shapeOf(plan.collection);
  const isAlike = ({ schema }: LiveEvent) => schema === shape;
  const sealed = plan.needsSealed ? await readSealed(readSystem, events.filter(isAlike)) : undefined;
  const erased = await readErasedStates(readSystem, plan, events.filter(isAlike));
  const parsed: ParsedEvent[] = [];
  for await (const event of inSlices(events)) {
    const data = event.data ?? large.get(event.id);
    parsed.push(parseEvent(event, data, { plan, isAlike: isAlike(event), sealed, erased }));
  }
  const stored = await readStored({ read, readSystem }, plan, parsed.filter(needsStored));
  return parsed.map(({ event, before, after, changed }) => {
    const now = after ?? stored.get(keyOf(event));
    const isKnown = (before !== undefined || event.verb === 'create') && (now !== undefined || event.verb === 'delete');
    return isKnown ? { event, before, after: now, changed } : { event, isLost: true };
  });
}

interface ParsedEvent extends ReadEvent {
  /** The record's id; undefined for a large event that is gone and names no record. */
  readonly id: string | undefined;
}

/** How the event relates to the plan. */
interface Reading {
  readonly plan: CompiledPlan;
  /** Whether the record has today's shape. */
  readonly isAlike: boolean;
  /** The events' sealed values (JSON texts), by event id; undefined if the plan shows none. */
  readonly sealed: ReadonlyMap<string, string> | undefined;
  /** What erased records were (JSON texts), by event id. */
  readonly erased: ReadonlyMap<string, string>;
}

/** A record state to which every record matches. */
const anyState = '{}';
/** Members that every record of a type has, whatever its shape. */
const systemMembers: ReadonlySet<string> = new Set(['id', 'anonymous', 'created', 'updated']);

function parseEvent(event: LiveEvent, data: string | undefined, reading: Reading): ParsedEvent {
  const { plan, isAlike, sealed, erased } = reading;
  const parts = data === undefined ? undefined : cutMembers(data);
  const record = parts?.get('record');
  const earlier = event.verb === 'delete' ? (erased.get(event.id) ?? record) : parts?.get('previous');
  const id = record === undefined ? event.record : readId(record);
  const before = plan.conditions === undefined ? anyState : earlier && judgeable(earlier, plan, isAlike);
  const known = isAlike ? record : undefined;
  const after = known === undefined ? undefined : withSealed(known, sealed?.get(event.id), sealed);
  return {
    event: { ...event, record: id },
    id,
    before: event.verb === 'create' ? undefined : before,
    after: event.verb === 'delete' ? deleted(known, plan) : after,
    changed: readNames(parts?.get('changed')),
  };
}

/** A deleted record as it is shown, without sealed values; undefined if only its id is shown, or known. */
const deleted = (record: string | undefined, { showsDeleted }: CompiledPlan): string | undefined =>
  showsDeleted && record !== undefined && [...cutMembers(record)].length > 1 ? record : undefined;

/**
 * The part of an earlier state that the condition may read; undefined if it reads fields, and the shape is another one or the
 * record was erased.
 */
function judgeable(earlier: string, { ownFields }: CompiledPlan, isAlike: boolean): string | undefined {
  if (isAlike && (ownFields.length === 0 || !isErased(earlier))) return earlier;
  if (ownFields.length > 0) return undefined;
  const members = [...cutMembers(earlier)].filter(([name]) => systemMembers.has(name));
  return `{${members.map(([name, value]) => `"${name}":${value}`).join(',')}}`;
}

/** Longer than a state with an id only. */
const longerThanErased = 100;

/** Whether a state has the id only, as events of erasures say it (privacy §2.2). */
const isErased = (state: string): boolean => state.length < longerThanErased && [...cutMembers(state)].length === 1;

/** Adds the sealed values to a record's text; undefined if they are needed and gone. */
function withSealed(record: string, values: string | undefined, wanted: Reading['sealed']): string | undefined {
  if (!wanted) return record;
  return values === undefined ? undefined : `${record.slice(0, -1)},${values.slice(1)}`;
}

function readId(record: string): string | undefined {
  const parsed: unknown = JSON.parse(record);
  const id: unknown = typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, 'id') : undefined;
  return typeof id === 'string' ? id : undefined;
}

function readNames(changed: string | undefined): readonly string[] {
  const names: unknown = changed === undefined ? [] : JSON.parse(changed);
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

const needsStored = ({ event, after, before, id }: ParsedEvent): boolean =>
  event.verb !== 'delete' &&
  after === undefined &&
  id !== undefined &&
  (event.verb === 'create' || before !== undefined);

const keyOf = ({ record, version }: Pick<LiveEvent, 'record' | 'version'>): string => `${record} ${version}`;

/**
 * The stored records that still have their event's version (JSON texts), by id and version. None if the collection has
 * changed since the plan: its columns may hold other values now, such as encrypted ones.
 */
async function readStored(
  { read, readSystem }: EventSources,
  { collection }: CompiledPlan,
  events: readonly ParsedEvent[],
): Promise<ReadonlyMap<string, string>> {
  if (events.length === 0) return new Map();
  const text = `select t.id, ${versionOf('t')} as version, row_to_json(r.*)::text as record
from ${tableOf(collection)} t cross join lateral (select ${selectList(recordColumns(collection), 't')}) r
where t.id = any($1::text[])`;
  const ids = events.flatMap(({ id }) => id ?? []);
  const rows = await read<{ id: string; version: string; record: string }>({ text, values: [ids] });
  // Read after the rows, so a change before them shows.
  const now = await loadCollection(readSystem, collection.id);
  if (!now || shapeOf(now) !== shapeOf(collection)) return new Map();
  return new Map(rows.map(({ id, version, record }) => [keyOf({ record: id, version }), record]));
}

/** The events' encrypted values (JSON texts), by event id. They stay for as long as the outbox row. */
async function readSealed(query: Query, events: readonly LiveEvent[]): Promise<ReadonlyMap<string, string>> {
  const ids = events.flatMap(({ id, verb }) => (verb === 'delete' ? [] : [id]));
  if (ids.length === 0) return new Map();
  const rows = await query<{ id: string; sealed: string }>({
    name: 'live.sealed',
    text: 'select event_id as id, sealed from system.outbox where event_id = any($1::uuid[]) and sealed is not null',
    values: [ids],
  });
  return new Map(rows.map(({ id, sealed }) => [id, sealed]));
}

/** Longer than the `data` of an erased record's delete event. */
const longerThanErasedData = 150;

/**
 * What records were when they were erased (JSON texts), by event id: the rule must judge that. Only the outbox has it, until the
 * erasure's job cleans it a second later or more. Nobody is shown it.
 */
async function readErasedStates(
  query: Query,
  { conditions, ownFields }: CompiledPlan,
  events: readonly LiveEvent[],
): Promise<ReadonlyMap<string, string>> {
  if (conditions === undefined || ownFields.length === 0) return new Map();
  const ids = events.flatMap(({ id, verb, data }) =>
    verb === 'delete' && data !== undefined && data.length < longerThanErasedData ? [id] : [],
  );
  if (ids.length === 0) return new Map();
  const rows = await query<{ id: string; record: string }>({
    name: 'live.erased',
    text: 'select event_id as id, sealed as record from system.outbox where event_id = any($1::uuid[]) and sealed is not null',
    values: [ids],
  });
  return new Map(rows.map(({ id, record }) => [id, record]));
}

/** The `data` for the large events that are still stored, by event id. */
async function readLarge(query: Query, events: readonly LiveEvent[]): Promise<ReadonlyMap<string, string>> {
  const ids = events.flatMap(({ id, data }) => (data === undefined ? [id] : []));
  if (ids.length === 0) return new Map();
  const rows = await query<{ id: string; body: string }>({
    text: 'select id, body from system.large_events where id = any($1::uuid[])',
    values: [ids],
  });
  return new Map(rows.map(({ id, body }) => [id, cutMembers(body).get('data') ?? 'null']));
}
