import { AppError } from '@recordbus/errors';
import type { EventVerdict, LivePlan, LiveReads } from '@recordbus/live';
import type { Change } from '../stream/change.ts';
import type { Caller, Members } from './members.ts';

/** Thrown if the plan's request now has another plan, because the schema has changed. */
export class StalePlan extends Error {}

/** Thrown if the records service does not know what a change was. */
export class LostChange extends Error {}

/** A change, its verdict, and the callers that it was judged for. */
export interface JudgedChange {
  readonly change: Change;
  readonly version: string;
  readonly verdict: EventVerdict;
  readonly callers: readonly Caller[];
}

type JudgeDeps = Pick<LiveReads, 'candidates' | 'judge'>;

/**
 * Judges changes in the plan's collection for the members, with the records service. Throws StalePlan, LostChange, 422
 * for a plan whose statement takes too long even for one change, and 503.
 */
export async function judgeChanges(
  live: JudgeDeps,
  plan: LivePlan,
  members: Members,
  changes: readonly Change[],
): Promise<readonly JudgedChange[]> {
  const batch = changes.flatMap((change) => {
    const body = change.read();
    if (!body) return [];
    const { id, version, schema, data } = body;
    return [{ change, event: { id, record: change.recordId, verb: change.verb, version, schema, data } }];
  });
  if (batch.length === 0) return [];
  const events = batch.map(({ event }) => event);
  const client = clientOf(plan, members);
  const callers = await concernedCallers(live, plan, members, changes, { plan, events, client });
  if (callers.length === 0) return [];
  try {
    const verdicts = await live.judge({ plan, events, client, callers: callers.map(({ values }) => values) });
    if (verdicts.isStale) throw new StalePlan();
    if (verdicts.events.some(({ isLost }) => isLost)) throw new LostChange();
    return batch.flatMap(({ change, event }, place) => {
      const verdict = verdicts.events[place];
      return verdict ? [{ change, version: event.version, verdict, callers }] : [];
    });
  } catch (error) {
    if (!isTooExpensive(error) || changes.length === 1) throw error;
    const judged: JudgedChange[] = [];
    for (const change of changes) judged.push(...(await judgeChanges(live, plan, members, [change])));
    return judged;
  }
}

/** Returns the members whom the changes may concern. */
async function concernedCallers(
  live: JudgeDeps,
  plan: LivePlan,
  members: Members,
  changes: readonly Change[],
  batch: Parameters<LiveReads['candidates']>[0],
): Promise<readonly Caller[]> {
  if (plan.request.record !== undefined) return members.callersFollowing(changes.map(({ recordId }) => recordId));
  // Judging a few members is faster than looking up candidates.
  if (!plan.hasCandidates || members.size <= maxWithoutCandidates) return members.callers();
  const candidates = await live.candidates(batch);
  return candidates ? members.callersOf(candidates) : members.callers();
}

const maxWithoutCandidates = 20;

/** Whether the records service gave up on a statement. */
export const isTooExpensive = (error: unknown): error is AppError => error instanceof AppError && error.status === 422;

/** The client whose turn the statement takes: the only connection's account, otherwise the plan. */
function clientOf({ key }: LivePlan, members: Members): string {
  if (members.size > 1) return key;
  const [only] = members;
  const { principal, clientAddress } = only?.connection.context ?? {};
  return principal && principal.type !== 'guest' ? principal.id : (clientAddress ?? key);
}
