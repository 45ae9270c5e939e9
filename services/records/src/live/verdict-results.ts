import type { EventVerdict } from '@recordbus/live';
import { selectedColumns } from '../shape/field-selection.ts';
import type { CompiledPlan } from './compile-plan.ts';
import type { ReadEvent } from './read-events.ts';

/** The intermediate result while an event is judged. */
export interface Result {
  before: number[] | 'all';
  now: number[] | 'all';
  /** The callers who see each JSON. */
  readonly records: Map<string, number[] | 'all'>;
}

export const createResult = (): Result => ({ before: [], now: [], records: new Map() });

/** Fills in the result for an event whose record everyone sees. */
export function answerFreely({ before, after }: ReadEvent, result: Result): void {
  if (before !== undefined) result.before = 'all';
  if (after === undefined) return;
  result.now = 'all';
  result.records.set(after, 'all');
}

/** The verdict on a judged event. */
export function verdictOf(plan: CompiledPlan, { event, changed }: ReadEvent, result: Result): EventVerdict {
  const { before, now, records } = result;
  return {
    before,
    now,
    records: [...records].map(([json, callers]) => ({
      callers,
      json,
      ...(event.verb === 'update' && { changed: shownNames(plan, changed, json) }),
    })),
  };
}

/** The names of the fields that the record shows to these callers. */
function shownNames({ collection, projection }: CompiledPlan, changed: readonly string[], json: string) {
  const { selection, view } = projection;
  const shown = new Set(selectedColumns(collection, selection, view).map(({ name }) => name));
  const names = changed.filter((name) => shown.has(name));
  if (!names.some((name) => view.conditional.has(name))) return names;
  const record: unknown = JSON.parse(json);
  return names.filter((name) => typeof record === 'object' && record !== null && Object.hasOwn(record, name));
}
