import { RecordbusError } from '../error.ts';
import { newKey } from '../retry.ts';
import { type Channel, type Locks, tabPlatform } from '../session/tabs.ts';
import type { Transport } from '../transport.ts';
import type { Follower, Hub } from './hub.ts';
import { noteBegin } from './note-begin.ts';

/** The messages between tabs. `tab` is the follower's tab, `id` its number there. */
type Message =
  /** There is a new leader: every tab announces its followers again. */
  | { readonly say: 'lead' }
  | {
      readonly say: 'follow';
      readonly tab: string;
      readonly id: number;
      readonly request: Follower['request'];
      readonly cursor: string | undefined;
    }
  | { readonly say: 'leave'; readonly tab: string; readonly id: number }
  | {
      readonly say: 'event';
      readonly tab: string;
      readonly id: number;
      readonly type: string;
      readonly data: Readonly<Record<string, unknown>>;
      readonly cursor: string | undefined;
    }
  | { readonly say: 'end'; readonly tab: string; readonly id: number; readonly error: ErrorText };

/** An error in a message. */
type ErrorText = Pick<RecordbusError, 'message' | 'status' | 'code' | 'details'>;

/**
 * Shares the connection of a hub with the other tabs of its session that send the same query: one of them, the leader,
 * holds it. When the leader is closed, the next tab resumes after the cursors of all. If the platform lacks locks or
 * channels between tabs, each tab has its own connection.
 */
export function shareHub(transport: Transport, query: string, own: Hub): Hub {
  const { shareTabs, sessionName } = transport.live;
  const { locks, Channel } = tabPlatform();
  if (!shareTabs || sessionName === undefined || !locks || !Channel) return own;
  const topic = `recordbus-live:${sessionName}:${transport.baseUrl}${query}`;
  return createSharedHub(locks, () => new Channel(topic), topic, own);
}

function createSharedHub(locks: Locks, open: () => Channel, topic: string, own: Hub): Hub {
  const tab = newKey();
  const followers = new Map<number, Follower>();
  /** For the leader: the other tabs' followers, with the functions that remove them. */
  const followed = new Map<string, () => void>();
  const forever = new Promise<void>(() => {});
  let [lastId, isJoined, isLeader] = [0, false, false];
  let channel: Channel | undefined;
  const stops = new Map<number, () => void>();

  const say = (message: Message): void => channel?.postMessage(message);

  function announce(id: number, follower: Follower): void {
    const { request, hasBegun, cursor } = follower;
    if (isLeader) stops.set(id, own.follow(follower));
    else if (isJoined) say({ say: 'follow', tab, id, request, cursor: hasBegun ? cursor : undefined });
  }

  function lead(): void {
    isLeader = true;
    for (const [id, follower] of followers) announce(id, follower);
    say({ say: 'lead' });
  }

  /** Follows for another tab, until that tab stops or is closed. */
  function followFor(of: string, id: number, request: Follower['request'], cursor: string | undefined): void {
    const key = `${of} ${id}`;
    followed.get(key)?.();
    const follower: Follower = {
      request,
      hasBegun: cursor !== undefined,
      cursor,
      onMessage: (type, data) => say({ say: 'event', tab: of, id, type, data, cursor: follower.cursor }),
      onError({ message, status, code, details }) {
        followed.delete(key);
        say({ say: 'end', tab: of, id, error: { message, status, code, details } });
      },
    };
    const isNew = ![...followed.keys()].some((known) => known.startsWith(`${of} `));
    followed.set(key, own.follow(follower));
    // A tab holds its lock until it is closed.
    if (isNew) void locks.request(`${topic}:${of}`, async () => leave(`${of} `));
  }

  function leave(prefix: string): void {
    for (const [key, stop] of followed)
      if (key === prefix || (prefix.endsWith(' ') && key.startsWith(prefix))) {
        followed.delete(key);
        stop();
      }
  }

  function take(message: Message): void {
    if (message.say === 'lead') {
      if (!isLeader) for (const [id, follower] of followers) announce(id, follower);
    } else if (message.say === 'follow') {
      if (isLeader) followFor(message.tab, message.id, message.request, message.cursor);
    } else if (message.say === 'leave') {
      if (isLeader) leave(`${message.tab} ${message.id}`);
    } else if (message.tab === tab) tell(message);
  }

  function tell(message: Extract<Message, { say: 'event' | 'end' }>): void {
    const follower = followers.get(message.id);
    if (message.say === 'end') {
      followers.delete(message.id);
      const { message: text, ...parts } = message.error;
      follower?.onError(new RecordbusError(text, parts));
    } else if (follower) {
      if (message.cursor !== undefined) follower.cursor = message.cursor;
      noteBegin(follower, message.type);
      follower.onMessage(message.type, message.data);
    }
  }

  /** Joins the tabs when there is a follower. The lock shows that the tab is open, so the tab takes it first. */
  function join(): void {
    if (channel) return;
    channel = open();
    channel.onmessage = ({ data }) => take(data as Message);
    channel.unref?.();
    void locks.request(`${topic}:${tab}`, () => {
      isJoined = true;
      for (const [id, follower] of followers) announce(id, follower);
      void locks.request(topic, () => {
        lead();
        return forever;
      });
      return forever;
    });
  }

  return {
    follow(follower) {
      lastId += 1;
      const id = lastId;
      followers.set(id, follower);
      announce(id, follower);
      join();
      return () => {
        if (!followers.delete(id)) return;
        if (isLeader) stops.get(id)?.();
        else say({ say: 'leave', tab, id });
        stops.delete(id);
      };
    },
  };
}
