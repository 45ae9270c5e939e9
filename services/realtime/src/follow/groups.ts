import type { LivePlan } from '@recordbus/live';
import type { Change } from '../stream/change.ts';
import { partLimit } from '../stream/recent-changes.ts';
import { Group, type GroupDeps } from './group.ts';
import type { Subscription } from './subscription.ts';

/** This replica's groups. */
export interface Groups extends Iterable<Group> {
  /** Adds a subscription to a group for its plan. It gets every change after `after`. */
  join(subscription: Subscription, after: number): void;
  /** Wakes the groups that a new change concerns. */
  wake(change: Change): void;
  /** Removes all subscriptions, since their positions belong to the stream's earlier life. */
  clear(): void;
  stop(): void;
}

export function createGroups(deps: Omit<GroupDeps, 'onIdle' | 'onSlow'>): Groups {
  const byPlan = new Map<string, Group[]>();
  const byCollection = new Map<string, Set<Group>>();

  function create(plan: LivePlan, after: number): Group {
    const group = new Group(plan, after, { ...deps, onIdle: settle, onSlow: split });
    const groups = byPlan.get(plan.key) ?? [];
    byPlan.set(plan.key, groups);
    groups.push(group);
    for (const collection of group.collections.flatMap(keysOf)) {
      const ofCollection = byCollection.get(collection) ?? new Set();
      byCollection.set(collection, ofCollection.add(group));
    }
    return group;
  }

  function drop(group: Group): void {
    group.stop();
    const groups = byPlan.get(group.plan.key)?.filter((other) => other !== group) ?? [];
    if (groups.length > 0) byPlan.set(group.plan.key, groups);
    else byPlan.delete(group.plan.key);
    for (const collection of group.collections.flatMap(keysOf)) {
      byCollection.get(collection)?.delete(group);
      if (byCollection.get(collection)?.size === 0) byCollection.delete(collection);
    }
  }

  /** Returns the group nearest to the end that a subscription which needs everything after `after` may join. */
  function findJoinable(plan: LivePlan, after: number): Group | undefined {
    const end = deps.changes.end.seq;
    const placeOf = (group: Group) => (group.isRunning ? group.joinableFrom : end);
    const joinable = byPlan.get(plan.key)?.filter((group) => placeOf(group) <= after) ?? [];
    return joinable.sort((a, b) => placeOf(b) - placeOf(a))[0];
  }

  /** Merges a group that has caught up into another one with its plan, and drops a group without members. */
  function settle(group: Group): void {
    if (group.members.size === 0) {
      drop(group);
      return;
    }
    const { seq } = deps.changes.end;
    const other = byPlan
      .get(group.plan.key)
      ?.find((one) => one !== group && (!one.isRunning || one.joinableFrom + partLimit.changes >= seq));
    if (other) move([...group.members], seq, group, other);
    if (group.members.size === 0) drop(group);
  }

  function move(subscriptions: readonly Subscription[], after: number, from: Group, to: Group): void {
    for (const subscription of subscriptions) {
      from.remove(subscription);
      subscription.from = Math.max(subscription.from, after);
      to.add(subscription);
    }
  }

  /** Moves slow members to a separate group, which continues at their pace. */
  function split(slow: readonly Subscription[], after: number, group: Group): void {
    const own = create(group.plan, after);
    move(slow, after, group, own);
    own.wake(after);
  }

  return {
    join(subscription, after) {
      subscription.from = Math.max(subscription.from, after);
      const { plan } = subscription;
      const group = findJoinable(plan, after) ?? create(plan, after);
      group.add(subscription);
      if (after < deps.changes.end.seq) group.wake(after);
    },
    wake(change) {
      const key = change.collectionId === undefined ? nameKey(change.collection) : idKey(change.collectionId);
      for (const group of byCollection.get(key) ?? []) group.wake(change.seq - 1);
    },
    clear() {
      for (const group of [...byPlan.values()].flat()) {
        for (const subscription of [...group.members]) group.remove(subscription);
        drop(group);
      }
    },
    stop() {
      for (const groups of byPlan.values()) for (const group of groups) group.stop();
    },
    *[Symbol.iterator]() {
      for (const groups of byPlan.values()) yield* groups;
    },
  };
}

const idKey = (id: string): string => `id ${id}`;
const nameKey = (name: string): string => `name ${name}`;

/** The keys under which a change may name a collection (see `isOf`). */
const keysOf = ({ id, name }: { readonly id: string; readonly name: string }) => [idKey(id), nameKey(name)];
