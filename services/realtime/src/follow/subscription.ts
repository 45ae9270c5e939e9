import type { LivePlan, SnapshotRequest } from '@recordbus/live';
import type { Principal } from '@recordbus/request/context';
import type { Connection, Followed } from '../connection/connection.ts';
import type { Group } from './group.ts';

/** A connection's subscription to records. */
export class Subscription implements Followed {
  readonly id: string;
  readonly connection: Connection;
  readonly request: SnapshotRequest;
  /** The position up to which it gets no changes, because its snapshot has them or its client has seen them. */
  from: number;
  /** Whether the connection cannot be resumed yet because a snapshot must come first. */
  isPending = false;
  /** Whether its client asked for a snapshot. */
  wantsSnapshot = false;
  /** Counts how often it began. Work that belongs to an earlier beginning gives up. */
  beginnings = 0;
  #plan: LivePlan | undefined;
  #plannedFor: Principal | undefined;
  #values: readonly unknown[] = [];
  #valuesKey = '[]';
  #group: Group | undefined;
  #isLeft = false;

  constructor(id: string, connection: Connection, request: SnapshotRequest, from: number) {
    this.id = id;
    this.connection = connection;
    this.request = request;
    this.from = from;
  }

  /** How the records service judges its events. Set before it joins a group. */
  get plan(): LivePlan {
    if (!this.#plan) throw new Error('the subscription has no plan');
    return this.#plan;
  }

  /** Whether the connection has the principal for whom the plan was made. */
  get isPlanned(): boolean {
    return this.#plannedFor === this.connection.principal;
  }

  get values(): readonly unknown[] {
    return this.#values;
  }

  /** A plan's subscriptions with equal keys see the same. */
  get valuesKey(): string {
    return this.#valuesKey;
  }

  setPlan(plan: LivePlan, values: readonly unknown[]): void {
    this.#plannedFor = this.connection.principal;
    this.#plan = plan;
    this.#values = values;
    this.#valuesKey = JSON.stringify(values);
  }

  get isLeft(): boolean {
    return this.#isLeft;
  }

  get through(): number {
    if (this.isPending) return -1;
    return this.#group ? Math.max(this.#group.through, this.from) : this.from;
  }

  /** Set by a group that it joins, and to undefined by a group that it leaves. */
  set group(group: Group | undefined) {
    this.#group = group;
  }

  get isJoined(): boolean {
    return this.#group !== undefined;
  }

  /** Leaves its group to join another one. */
  detach(): void {
    this.#group?.remove(this);
  }

  leave(): void {
    this.#isLeft = true;
    this.#group?.remove(this);
  }
}
