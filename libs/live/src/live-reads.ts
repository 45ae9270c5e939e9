import type { AppError } from '@recordbus/errors';
import type { LiveCaller } from './live-caller.ts';
import type { LivePlan, OpenedPlan } from './plan.ts';
import type { SnapshotRequest } from './requests.ts';
import type { LiveEvent, Verdicts } from './verdicts.ts';

/** A plan, or the refusal that a GET with the same parameters would get: 404, 403, 401 or 400. */
export type OpenResult = OpenedPlan | { readonly refusal: AppError };

interface EventBatch {
  readonly plan: LivePlan;
  readonly events: readonly LiveEvent[];
  /** The client whose turn the work takes: one client's key, or the plan's key for several. */
  readonly client: string;
}

/** A subscription's snapshot. */
export interface LiveSnapshot {
  readonly records: string;
  readonly total?: number | undefined;
  readonly at?: number | undefined;
}

/**
 * What the records service does for the realtime service. It knows the rules and reads the database. It stores nothing
 * about subscriptions, so any replica answers any call.
 */
export interface LiveReads {
  /** Checks subscriptions, and a snapshot's page if they name one; one result for each, in order. */
  open(
    requests: readonly { readonly request: SnapshotRequest; readonly caller: LiveCaller }[],
  ): Promise<readonly OpenResult[]>;
  /**
   * Reads the current records under a list's or get's rules: JSON text for the `records`, the `total`, and the second
   * `at`. Versions from later seconds are not included. A single record has no `total` and no `at`. Throws as a GET
   * does.
   */
  snapshot(request: SnapshotRequest, caller: LiveCaller): Promise<LiveSnapshot>;
  /**
   * Returns the account ids that these events may concern, for a plan that has candidates. Undefined if an event may
   * concern everyone, or if the schema has changed: then judge for all.
   */
  candidates(batch: EventBatch): Promise<readonly string[] | undefined>;
  /**
   * Judges events for callers, each with its subscription's `values`. It reads the committed schema, so a rule that was
   * changed before the events were written is not used. Throws 422 for a plan that takes too long, and for more than 64
   * MiB of JSON. Fewer events may avoid this.
   */
  judge(batch: EventBatch & { readonly callers: readonly (readonly unknown[])[] }): Promise<Verdicts>;
  /** Whether the schema still gives these plans their keys, in order. */
  isCurrent(plans: readonly LivePlan[]): Promise<readonly boolean[]>;
  /** Whether a channel rule admits the caller to a channel. An invalid rule admits only admins. */
  admitsToChannel(rule: string | null, channel: string, caller: LiveCaller): Promise<boolean>;
}
