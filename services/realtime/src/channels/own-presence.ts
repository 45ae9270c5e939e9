import { randomUUID } from 'node:crypto';
import type { Bus } from '@recordbus/bus';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Members } from './members.ts';
import type { MessageOf, PresenceMessage } from './presence-message.ts';

/** Sends the members at this replica to the others. */
export interface OwnPresence {
  /** This replica's id. */
  readonly replica: string;
  /** Sets a member at this replica, or removes it. */
  set(channel: string, key: string, state: string | undefined): void;
  /** Sends all members, since another replica has asked. */
  answer(): void;
  start(): void;
  stop(): Promise<void>;
}

interface OwnPresenceDeps {
  readonly bus: Pick<Bus, 'publish'>;
  readonly members: Members;
  readonly log: Logger;
}

const beatMs = 500;
/** How often the state is sent without a request. Replicas that miss something request it. */
const stateMs = 60_000;
/** Changes within this time are one message. */
const collectMs = 15;
/** Replicas that ask within this time get one answer. */
const answerAfterMs = 50;
/** Roughly how many UTF-16 code units a message may have. The bus accepts a mebibyte. */
const maxUnits = 200_000;

export function createOwnPresence({ bus, members, log }: OwnPresenceDeps): OwnPresence {
  const replica = randomUUID();
  const changed = new Map<string, readonly [channel: string, key: string]>();
  let number = 0;
  let collecting: NodeJS.Timeout | undefined;

  const send = (message: PresenceMessage) => bus.publish('presence', JSON.stringify(message));

  function sendChanges(): void {
    clearTimeout(collecting);
    collecting = undefined;
    const changes = [...changed.values()].map(([channel, key]): MessageOf<'changes'>['changes'][number] => {
      const member = members.findOf(replica, channel, key);
      return member ? [channel, key, member.state, member.atMs] : [channel, key];
    });
    changed.clear();
    for (const part of split(changes)) {
      number += 1;
      send({ kind: 'changes', replica, number, changes: part });
    }
  }

  function sendState(): void {
    // Changes that the state contains must not be sent after it.
    sendChanges();
    const list = Array.from(
      members.of(replica),
      ([channel, key, { state, atMs }]): MessageOf<'state'>['members'][number] => [channel, key, state, atMs],
    );
    const parts = split(list);
    for (const [part, some] of parts.entries())
      send({ kind: 'state', replica, number, part, parts: parts.length, members: some });
  }

  const answering = every({
    name: 'send presence to other replicas',
    log,
    intervalMs: stateMs,
    firstAfterMs: stateMs,
    soonMs: answerAfterMs,
    run: async () => sendState(),
  });
  const beating = every({
    name: 'send signs of life to other replicas',
    log,
    intervalMs: beatMs,
    async run() {
      // A replica without members need not send beats.
      if (members.has(replica)) send({ kind: 'beat', replica, number });
    },
  });

  return {
    replica,
    answer: answering.wakeSoon,
    set(channel, key, state) {
      members.set(replica, channel, key, state === undefined ? undefined : { state, atMs: Date.now() });
      changed.set(`${channel}\0${key}`, [channel, key]);
      collecting ??= setTimeout(sendChanges, collectMs).unref();
    },
    start() {
      answering.start();
      beating.start();
    },
    async stop() {
      clearTimeout(collecting);
      await Promise.all([answering.stop(), beating.stop()]);
      send({ kind: 'bye', replica });
    },
  };
}

/** Splits a list into messages of moderate size. */
function split<T extends readonly unknown[]>(list: readonly T[]): T[][] {
  const parts: T[][] = [];
  let units = 0;
  for (const one of list) {
    const size = one.reduce<number>((sum, value) => sum + String(value).length + 8, 0);
    const last = parts.at(-1);
    if (!last || units + size > maxUnits) {
      parts.push([one]);
      units = size;
    } else {
      last.push(one);
      units += size;
    }
  }
  return parts;
}
