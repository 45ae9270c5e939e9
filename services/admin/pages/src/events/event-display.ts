import { pathTo } from '../router/router.svelte.ts';

/** The parts of an event's name. */
export interface EventName {
  /** Undefined for events from Recordbus and extensions. */
  readonly collection: string | undefined;
  readonly verb: string;
}

/** Splits an event's name. */
export function readName(event: string, recordId: string | null): EventName {
  const dot = event.lastIndexOf('.');
  const verb = event.slice(dot + 1);
  return recordId === null || dot < 0 ? { collection: undefined, verb } : { collection: event.slice(0, dot), verb };
}

const tones: Readonly<Record<string, Tone>> = { create: 'success', update: 'info', delete: 'danger' };
export type Tone = 'success' | 'info' | 'danger' | 'warning' | 'plain';

/** Returns an event's colour. */
export const toneOf = (event: string): Tone => tones[event.slice(event.lastIndexOf('.') + 1)] ?? 'plain';

/** Returns a delivery's colour. */
export const deliveryTone = (status: string, attempt: number): Tone =>
  status === 'success' ? 'success' : status === 'dead' ? 'danger' : attempt > 0 ? 'warning' : 'plain';

/** Returns the address of the event's record. Undefined if it has none. */
export function recordPath(event: string, recordId: string | null): string | undefined {
  const { collection, verb } = readName(event, recordId);
  if (collection === undefined || recordId === null) return undefined;
  const record = pathTo('collections', collection, 'records', recordId);
  return verb === 'delete' ? `${record}/history` : record;
}
