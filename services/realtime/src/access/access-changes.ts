import type { CrossedCollection } from '@recordbus/live';
import type { Group } from '../follow/group.ts';
import type { Subscription } from '../follow/subscription.ts';
import { type Change, isOf } from '../stream/change.ts';

/** Sends `resync` to callers whose access may have changed with a record that a rule passes through. */
export interface AccessChanges {
  /** Notes a change for a group's subscriptions. They get `resync` soon. */
  note(change: Change, group: Group): void;
  stop(): void;
}

interface AccessDeps {
  /** Sends `resync` to a subscription. */
  readonly resync: (subscription: Subscription) => void;
  /** A number from 0 up to 1; for tests. */
  readonly random?: () => number;
}

/** Changes within this time are one resync for the accounts that they name. */
const namedDelayMs = 200;
/**
 * A change that names no account concerns all subscriptions that read a changed field. Their resyncs are spread over a
 * while.
 */
const debounceMs = 1000;
const spreadMs = 5000;

export function createAccessChanges({ resync, random = Math.random }: AccessDeps): AccessChanges {
  const timers = new Map<Subscription, NodeJS.Timeout>();

  function schedule(subscription: Subscription, delayMs: number): void {
    if (timers.has(subscription)) return;
    const timer = setTimeout(() => {
      timers.delete(subscription);
      if (!subscription.isLeft) resync(subscription);
    }, delayMs);
    timers.set(subscription, timer.unref());
  }

  return {
    note(change, { plan, members }) {
      for (const crossed of plan.crossed) {
        if (!isOf(change, { name: crossed.collection, id: crossed.collectionId })) continue;
        const accounts = accountsNamed(change, crossed);
        for (const account of accounts)
          for (const subscription of members.ofAccount(account))
            if (change.seq > subscription.from) schedule(subscription, namedDelayMs);
        if (accounts.size > 0 || !isRead(change, crossed)) continue;
        for (const subscription of members)
          if (change.seq > subscription.from) schedule(subscription, debounceMs + random() * spreadMs);
      }
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** The account ids that the record names, before or after the change. */
function accountsNamed(change: Change, { accountFields, isCaller }: CrossedCollection): ReadonlySet<string> {
  const body = change.read();
  const named = new Set<string>(isCaller ? [change.recordId] : []);
  for (const state of [body?.record, body?.previous])
    for (const field of accountFields) for (const id of idsIn(state?.[field])) named.add(id);
  return named;
}

const idsIn = (value: unknown): readonly string[] =>
  [value].flat().filter((id): id is string => typeof id === 'string' && id !== '');

/** Whether the change may concern a field that the rule reads. A create or a delete always does. */
function isRead(change: Change, { fields }: CrossedCollection): boolean {
  const changed = change.read()?.changed;
  return change.verb !== 'update' || !changed || changed.some((name) => fields.includes(name));
}
