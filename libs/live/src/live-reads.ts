import type { AppError } from '@recordbus/shared/errors';
import type { LiveCaller } from './live-caller.ts';
import type { LivePlan, OpenedPlan } from './plan.ts';
import type { SnapshotRequest } from './requests.ts';
import type { LiveEvent, Verdicts } from './verdicts.ts';

/** A plan, or the refusal of a GET with the same parameters: 404, 403, 401 or 400. */
export type OpenResult = OpenedPlan | { readonly refusal: AppError };

interface EventBatch {
  readonly plan: LivePlan;
  readonly events: readonly LiveEvent[];
  /** The client whose turn the work takes: the key of one client, or the key of the plan for several. */
  readonly client: string;
}

/** The snapshot of a subscription. */
export interface LiveSnapshot {
  readonly records: string;
  readonly total?: number | undefined;
  readonly at?: number | undefined;
}

/**
 * The work of the records service for the realtime service. It knows the rules and reads the database. It stores
 * nothing about subscriptions, so any replica answers any call.
 */
export interface LiveReads {
  /** Checks subscriptions, and the page of a snapshot if they name one; one result for each, in order. */
  open(
    requests: readonly { readonly request: SnapshotRequest; readonly caller: LiveCaller }[],
  ): Promise<readonly OpenResult[]>;
  /**
   * Reads the current records under the rules of a list or a get: JSON text of the `records`, the `total`, and the
   * second `at`. Versions of later seconds are not included. A single record has no `total` and no `at`. Throws as a
   * GET does.
   */
  snapshot(request: SnapshotRequest, caller: LiveCaller): Promise<LiveSnapshot>;
  /**
   * Returns the ids of the accounts that these events may concern, for a plan that has candidates. Undefined if an
   * event may concern everyone, or if the schema has changed: then judge for all.
   */
  candidates(batch: EventBatch): Promise<readonly string[] | undefined>;
  /**
   * Judges events for callers, each with the `values` of its subscription. It reads the committed schema, so a rule
   * that was changed before the events were written is not used. Throws 422 for a plan that takes too long, and for
   * more than 64 MiB of JSON. Fewer events may avoid this.
   */
  judge(batch: EventBatch & { readonly callers: readonly (readonly unknown[])[] }): Promise<Verdicts>;
  /** Whether the schema still gives these plans their keys, in order. */
  isCurrent(plans: readonly LivePlan[]): Promise<readonly boolean[]>;
  /** Whether a rule of channels admits the caller to a channel. An invalid rule admits only admins. */
  admitsToChannel(rule: string | null, channel: string, caller: LiveCaller): Promise<boolean>;
}
