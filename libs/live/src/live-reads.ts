import type { AppError } from '@recordbus/shared/errors';
import type { LiveCaller } from './live-caller.ts';
import type { LivePlan, OpenedPlan } from './plan.ts';
import type { LiveRequest, SnapshotRequest } from './requests.ts';
import type { LiveEvent, Verdicts } from './verdicts.ts';

/** A plan, or the refusal of a GET with the same parameters: 404, 403, 401 or 400. */
export type OpenResult = OpenedPlan | { readonly refusal: AppError };

interface EventBatch {
  readonly plan: LivePlan;
  readonly events: readonly LiveEvent[];
  /** Whose work this is, so that clients take turns: the key of one client, or that of the plan for several. */
  readonly client: string;
}

/** The first state of a subscription. */
export interface LiveSnapshot {
  readonly records: string;
  readonly total?: number | undefined;
  readonly at?: number | undefined;
}

/**
 * What the records service does for the realtime service: it knows the rules and reads the database. It keeps nothing of
 * a subscription, so any replica answers any call.
 */
export interface LiveReads {
  /** Checks subscriptions; one result for each, in order. */
  open(
    requests: readonly { readonly request: LiveRequest; readonly caller: LiveCaller }[],
  ): Promise<readonly OpenResult[]>;
  /**
   * Reads the first state under the rules of a list, or of a get: JSON text of the `records`, the `total`, and the second
   * `at`: a version of a later second is not in them. A record has neither. Throws as a GET does.
   */
  snapshot(request: SnapshotRequest, caller: LiveCaller): Promise<LiveSnapshot>;
  /**
   * Returns the ids of the accounts that these events may concern, for a plan that has candidates. Undefined where one may
   * concern everybody, or where the schema has changed: then judge for all.
   */
  candidates(batch: EventBatch): Promise<readonly string[] | undefined>;
  /**
   * Judges events for callers, each with the `values` of its subscription. It reads the schema that is committed now, so
   * no rule decides that was changed before the events were written. Throws 422 for a plan that takes too long, and for
   * more than 64 MiB of JSON, which fewer events may avoid.
   */
  judge(batch: EventBatch & { readonly callers: readonly (readonly unknown[])[] }): Promise<Verdicts>;
  /** Whether the schema still gives these plans their keys, in order. */
  isCurrent(plans: readonly LivePlan[]): Promise<readonly boolean[]>;
  /** Whether a rule of channels admits the caller to a channel. An invalid rule admits nobody but admins. */
  admitsToChannel(rule: string | null, channel: string, caller: LiveCaller): Promise<boolean>;
}
