/** A channel member. */
export interface Member {
  /** JSON text. */
  readonly state: string;
  /** When it joined, by its replica's clock. When a key has several states, the latest is shown. */
  readonly atMs: number;
}

type OfReplica = Map<string, Map<string, Member>>;

/** All channels' members, at this replica and as far as known at the others. */
export class Members {
  readonly #replicas = new Map<string, OfReplica>();
  readonly #onChange: (channel: string, key: string) => void;

  constructor(onChange: (channel: string, key: string) => void) {
    this.#onChange = onChange;
  }

  /** Returns a key's member, the latest over all replicas. */
  find(channel: string, key: string): Member | undefined {
    let latest: Member | undefined;
    for (const channels of this.#replicas.values()) {
      const member = channels.get(channel)?.get(key);
      if (member && (!latest || member.atMs > latest.atMs)) latest = member;
    }
    return latest;
  }

  /** Returns a channel's keys. A key that is present at several replicas is repeated. */
  *keysOf(channel: string): Generator<string> {
    for (const channels of this.#replicas.values()) yield* channels.get(channel)?.keys() ?? [];
  }

  findOf(replica: string, channel: string, key: string): Member | undefined {
    return this.#replicas.get(replica)?.get(channel)?.get(key);
  }

  /** Returns every member at a replica. */
  *of(replica: string): Generator<readonly [channel: string, key: string, member: Member]> {
    for (const [channel, members] of this.#replicas.get(replica) ?? [])
      for (const [key, member] of members) yield [channel, key, member];
  }

  has(replica: string): boolean {
    return this.#replicas.has(replica);
  }

  /** Sets a member at a replica, or removes it. */
  set(replica: string, channel: string, key: string, member: Member | undefined): void {
    const channels: OfReplica = this.#replicas.get(replica) ?? new Map();
    const members = channels.get(channel) ?? new Map<string, Member>();
    if (member) {
      this.#replicas.set(replica, channels.set(channel, members.set(key, member)));
    } else {
      members.delete(key);
      if (members.size === 0) channels.delete(channel);
      if (channels.size === 0) this.#replicas.delete(replica);
    }
    this.#onChange(channel, key);
  }

  /** Replaces all members at a replica. An empty list forgets the replica. */
  replace(replica: string, list: readonly (readonly [channel: string, key: string, member: Member])[]): void {
    const before = [...this.of(replica)];
    this.#replicas.delete(replica);
    for (const [channel, key, member] of list) this.set(replica, channel, key, member);
    for (const [channel, key] of before) if (!this.findOf(replica, channel, key)) this.#onChange(channel, key);
  }
}
