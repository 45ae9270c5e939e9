import type { AppError } from '@recordbus/errors';
import type { LivePlan, LiveReads } from '@recordbus/live';
import type { Logger } from '@recordbus/process/logging';
import { isTemporary } from '../connection/end-for-reconnect.ts';
import { delay } from '../delay.ts';
import type { ChangeKind } from '../messages/change-frames.ts';
import { type Change, isOf } from '../stream/change.ts';
import { type ChangeLog, maxLag } from '../stream/change-log.ts';
import { formatCursor } from '../stream/cursor.ts';
import { MissedChanges } from '../stream/older-changes.ts';
import { isTooExpensive, judgeChanges, LostChange, StalePlan } from './judge-changes.ts';
import { Members } from './members.ts';
import { sendChangeToCallers } from './send-change.ts';
import type { Subscription } from './subscription.ts';

/** A group's dependencies. */
export interface GroupDeps {
  readonly live: Pick<LiveReads, 'candidates' | 'judge'>;
  readonly changes: Pick<ChangeLog, 'end' | 'read'>;
  readonly log: Logger;
  readonly onSent: (kind: ChangeKind) => void;
  /** Called with a change in a collection that the plan's rule passes through. */
  readonly onCrossed: (change: Change, group: Group) => void;
  /** Called when the plan is stale. The subscriptions leave and join again with their new plans. */
  readonly onStale: (group: Group) => Promise<void>;
  /** Called when changes are lost or cannot be judged. */
  readonly onMissed: (group: Group, reason: 'too_old' | 'schema' | 'failed') => void;
  /** Called with members that read slowly, which get a separate group so that the others do not wait. */
  readonly onSlow: (slow: readonly Subscription[], after: number, group: Group) => void;
  /** Called when the records service cannot judge the plan within its time. */
  readonly onTooExpensive: (group: Group, error: AppError) => void;
  /** Called when the group has read everything, and when its last member leaves after that. */
  readonly onIdle: (group: Group) => void;
}

/** Before a group continues, it waits for members with more unsent bytes than this, for a while. */
const unsentBeforeWait = 256 * 1024;
const longestWaitMs = 2000;
const waitMs = 20;
const retryMs = { least: 250, most: 5000 } as const;
/** After this many failures without a cause in another service, the current part is given up. */
const maxDefects = 5;

/**
 * Subscriptions with the same plan, at the same place in the stream. It reads its collection's changes part by part,
 * has the records service judge each part once for all members, and sends the messages.
 */
export class Group {
  readonly plan: LivePlan;
  readonly members = new Members();
  readonly #deps: GroupDeps;
  /** The position up to which everything was sent, while the group runs. An idle group has sent everything. */
  #position: number;
  /** The current part's end. A subscription that joins must not need anything before it. */
  #partEnd: number;
  #isRunning = false;
  #isStopped = false;
  #isStale = false;
  #failures = 0;

  constructor(plan: LivePlan, after: number, deps: GroupDeps) {
    this.plan = plan;
    this.#position = after;
    this.#partEnd = after;
    this.#deps = deps;
  }

  /** The collections whose changes wake it. */
  get collections(): readonly { readonly name: string; readonly id: string }[] {
    const { request, collectionId, crossed } = this.plan;
    const passed = crossed.map((one) => ({ name: one.collection, id: one.collectionId }));
    return [{ name: request.collection, id: collectionId }, ...passed];
  }

  get through(): number {
    return this.#isRunning ? this.#position : Number.POSITIVE_INFINITY;
  }

  /** The position from which a subscription may join: it must have seen everything up to there. */
  get joinableFrom(): number {
    return this.#isRunning ? this.#partEnd : this.#position;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  add(subscription: Subscription): void {
    subscription.group = this;
    this.members.add(subscription);
  }

  remove(subscription: Subscription): void {
    this.members.delete(subscription);
    subscription.group = undefined;
    // One that runs says so at its end.
    if (this.members.size === 0 && !this.#isRunning && !this.#isStopped) this.#deps.onIdle(this);
  }

  /**
   * Begins to read after its position. Called for a new change in its collections, or for a position before the end.
   */
  wake(after = this.#position): void {
    if (this.#isRunning || this.#isStopped) return;
    this.#isRunning = true;
    this.#position = after;
    this.#partEnd = after;
    void this.#run();
  }

  /** Makes its subscriptions join again with their new plans. */
  replan(): void {
    this.#isStale = true;
    this.wake(this.#deps.changes.end.seq);
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped && this.members.size > 0) {
      const { seq: end } = this.#deps.changes.end;
      if (this.#position >= end && !this.#isStale) break;
      try {
        if (this.#isStale) throw new StalePlan();
        if (end - this.#position > maxLag) throw new MissedChanges('too far behind');
        await this.#waitForSlow();
        await this.#readPart();
        this.#failures = 0;
      } catch (error) {
        await this.#handle(error);
      }
    }
    this.#isRunning = false;
    if (!this.#isStopped) this.#deps.onIdle(this);
  }

  async #readPart(): Promise<void> {
    const part = this.#deps.changes.read(this.#position);
    const { changes, upTo } = part instanceof Promise ? await part : part;
    this.#partEnd = Math.max(this.#partEnd, upTo);
    const [own, ...crossed] = this.collections;
    for (const change of changes) if (crossed.some((one) => isOf(change, one))) this.#deps.onCrossed(change, this);
    await this.#tell(changes.filter((change) => own && isOf(change, own)));
    this.#position = upTo;
    for (const { connection } of this.members) if (connection.followed.size > 1) connection.flushCursor();
  }

  async #tell(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return;
    const { live, changes: log, onSent } = this.#deps;
    for (const judged of await judgeChanges(live, this.plan, this.members, changes)) {
      const { seq } = judged.change;
      await sendChangeToCallers({ ...judged, cursor: formatCursor({ ...log.end, seq }), onSent });
      this.#position = Math.max(this.#position, seq);
    }
  }

  /** Moves slow members to another group. If all are slow, waits a while until they have read. */
  async #waitForSlow(): Promise<void> {
    const isSlow = ({ connection }: Subscription) => connection.unsentBytes > unsentBeforeWait && !connection.isEnded;
    let slow = [...this.members].filter(isSlow);
    if (slow.length > 0 && slow.length < this.members.size) return this.#deps.onSlow(slow, this.#position, this);
    const untilMs = performance.now() + longestWaitMs;
    while (slow.length > 0 && performance.now() < untilMs) {
      await delay(waitMs);
      slow = slow.filter(isSlow);
    }
  }

  async #handle(error: unknown): Promise<void> {
    const { onStale, onMissed, onTooExpensive, changes } = this.#deps;
    if (error instanceof MissedChanges || error instanceof LostChange) {
      this.#position = changes.end.seq;
      return onMissed(this, error instanceof LostChange ? 'schema' : 'too_old');
    }
    if (isTooExpensive(error)) return onTooExpensive(this, error);
    if (!(error instanceof StalePlan)) return this.#waitAfter(error);
    this.#isStale = false;
    const failure = await onStale(this).then(
      () => error,
      (failure: unknown) => failure,
    );
    // Members that are still here would be judged by the same plan again.
    if (this.members.size === 0) return;
    this.#isStale = true;
    return this.#waitAfter(failure);
  }

  async #waitAfter(error: unknown): Promise<void> {
    const { log, onMissed } = this.#deps;
    this.#failures += 1;
    const fields = { err: error, collection: this.plan.request.collection, subscriptions: this.members.size };
    if (this.#failures === 1) log.warn(fields, 'live changes cannot be judged, retrying');
    if (this.#failures >= maxDefects && !isTemporary(error)) {
      log.error(fields, 'live changes cannot be judged: clients read their lists again');
      this.#position = this.#partEnd;
      this.#failures = 0;
      return onMissed(this, 'failed');
    }
    await delay(Math.min(retryMs.least * 2 ** this.#failures, retryMs.most));
  }
}
