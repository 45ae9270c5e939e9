import type { Members } from './members.ts';

/** How many of a channel's members clients see (realtime §7.5). */
const maxShown = 1000;
const maxShownBytes = 256 * 1024;

/** The changes since they were last taken. */
interface MemberChange {
  readonly joined: ReadonlyMap<string, string>;
  readonly left: readonly string[];
}

/** A channel's members as its subscriptions at this replica see them. */
export class ShownMembers {
  readonly #channel: string;
  readonly #members: Pick<Members, 'find' | 'keysOf'>;
  readonly #shown = new Map<string, string>();
  /** Members for which there is no room. */
  readonly #hidden = new Set<string>();
  readonly #noted: Set<string>;
  #bytes = 0;

  constructor(channel: string, members: Pick<Members, 'find' | 'keysOf'>) {
    this.#channel = channel;
    this.#members = members;
    this.#noted = new Set(members.keysOf(channel));
  }

  /** The keys and states that are shown. */
  get entries(): Iterable<readonly [string, string]> {
    return this.#shown;
  }

  /** Notes that a key's member may have changed. */
  note(key: string): void {
    this.#noted.add(key);
  }

  /** Applies the noted changes. Returns undefined if no shown member has changed. */
  take(): MemberChange | undefined {
    const joined = new Map<string, string>();
    const left = new Set<string>();
    const keys = [...this.#noted];
    this.#noted.clear();
    for (const key of keys) {
      const state = this.#members.find(this.#channel, key)?.state;
      if (state === this.#shown.get(key)) this.#hidden.delete(key);
      else if (this.#hide(key)) left.add(key);
      if (state !== undefined && !this.#shown.has(key)) this.#hidden.add(key);
    }
    for (const key of this.#hidden) {
      const state = this.#members.find(this.#channel, key)?.state;
      if (state !== undefined && !this.#show(key, state)) break;
      this.#hidden.delete(key);
      if (state === undefined) continue;
      left.delete(key);
      joined.set(key, state);
    }
    return joined.size > 0 || left.size > 0 ? { joined, left: [...left] } : undefined;
  }

  #show(key: string, state: string): boolean {
    const bytes = sizeOf(key, state);
    if (this.#shown.size >= maxShown || this.#bytes + bytes > maxShownBytes) return false;
    this.#shown.set(key, state);
    this.#bytes += bytes;
    return true;
  }

  #hide(key: string): boolean {
    const state = this.#shown.get(key);
    if (state === undefined) return false;
    this.#bytes -= sizeOf(key, state);
    return this.#shown.delete(key);
  }
}

const sizeOf = (key: string, state: string): number => Buffer.byteLength(key) + Buffer.byteLength(state);
