import { startSlice } from '@recordbus/limits/time-slice';
import type { Callers, EventVerdict, ShownRecord } from '@recordbus/live';
import { type ChangeKind, createChangeFrames } from '../messages/change-frames.ts';
import type { Change } from '../stream/change.ts';
import type { Caller } from './members.ts';

interface ChangeToSend {
  readonly change: Change;
  readonly version: string;
  readonly verdict: EventVerdict;
  /** The verdict's callers, in its order. */
  readonly callers: readonly Caller[];
  /** The text of the change's cursor. */
  readonly cursor: string;
  /** Called for each message that was sent. */
  readonly onSent: (kind: ChangeKind) => void;
}

/**
 * Sends a change to every caller for whom the record matches or matched. A change to many callers is sent in time
 * slices, so other work continues.
 */
export async function sendChangeToCallers({
  change,
  version,
  verdict,
  callers,
  cursor,
  onSent,
}: ChangeToSend): Promise<void> {
  const frames = createChangeFrames({ cursor, recordId: change.recordId, version });
  const before = membership(verdict.before, callers.length);
  const now = membership(verdict.now, callers.length);
  const shownTo = recordsByCaller(verdict.records);
  const slice = startSlice();
  for (const place of concerned(verdict, callers.length)) {
    const kind = kindOf(change, before(place), now(place));
    const shown = kind === 'leave' ? undefined : shownTo(place);
    if (!kind || (!shown && kind !== 'leave' && kind !== 'delete')) continue;
    for (const subscription of callers[place]?.subscriptions ?? []) {
      if (change.seq <= subscription.from) continue;
      subscription.connection.sendChange(frames.of(subscription.id, kind, shown), change.seq, subscription);
      onSent(kind);
      if (slice.isOver()) await slice.pause();
    }
  }
}

/** The kind of change for a caller for whom the record matched before, now, both or neither (realtime §3.2). */
function kindOf({ verb }: Change, before: boolean, now: boolean): ChangeKind | undefined {
  if (verb === 'delete') return before ? 'delete' : undefined;
  if (now) return verb === 'create' ? 'create' : before ? 'update' : 'enter';
  return before ? 'leave' : undefined;
}

/** The indexes of the callers whom a verdict names. */
function concerned({ before, now }: EventVerdict, count: number): Iterable<number> {
  if (before === 'all' || now === 'all') return Array.from({ length: count }, (_, place) => place);
  return new Set([...before, ...now]);
}

function membership(callers: Callers, count: number): (place: number) => boolean {
  if (callers === 'all') return () => true;
  if (callers.length === 0) return () => false;
  const flags = new Uint8Array(count);
  for (const place of callers) flags[place] = 1;
  return (place) => flags[place] === 1;
}

function recordsByCaller(records: readonly ShownRecord[]): (place: number) => ShownRecord | undefined {
  const [first] = records;
  if (first?.callers === 'all') return () => first;
  const byPlace = new Map<number, ShownRecord>();
  for (const record of records)
    for (const place of record.callers === 'all' ? [] : record.callers) byPlace.set(place, record);
  return (place) => byPlace.get(place);
}
