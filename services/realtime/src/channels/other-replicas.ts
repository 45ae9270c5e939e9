import type { Bus } from '@recordbus/bus';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Member, Members } from './members.ts';
import { type MessageOf, type PresenceMessage, readPresenceMessage } from './presence-message.ts';

/** Follows the members at the other replicas. */
export interface OtherReplicas {
  start(): void;
  stop(): Promise<void>;
}

interface OtherReplicasDeps {
  readonly bus: Pick<Bus, 'publish' | 'subscribe' | 'onConnect'>;
  readonly members: Members;
  /** This replica's id. */
  readonly self: string;
  /** Called when another replica asks for the members at this one. */
  readonly onAsked: () => void;
  readonly log: Logger;
}

/** Another replica's known state. */
interface Other {
  heardAtMs: number;
  /** Its last known changes' number; undefined before its state is known. */
  number: number | undefined;
  askedAtMs: number;
  state: { readonly number: number; readonly parts: Map<number, MessageOf<'state'>['members']> } | undefined;
}

/** A replica that is silent for this long, three beats, counts as dead (realtime §7.5). */
const silentMs = 1500;
const sweepMs = 100;
/** After a pause this long, this process must first read the messages that the others have sent. */
const stallMs = 400;
const askPauseMs = 250;

export function createOtherReplicas({ bus, members, self, onAsked, log }: OtherReplicasDeps): OtherReplicas {
  const others = new Map<string, Other>();
  let sweptAtMs = performance.now();
  let endListening = () => {};

  const send = (message: PresenceMessage) => bus.publish('presence', JSON.stringify(message));

  function heard(replica: string): Other {
    const other = others.get(replica) ?? { heardAtMs: 0, number: undefined, askedAtMs: 0, state: undefined };
    others.set(replica, other);
    other.heardAtMs = performance.now();
    return other;
  }

  function ask(replica: string, other: Other): void {
    const nowMs = performance.now();
    if (nowMs < other.askedAtMs + askPauseMs) return;
    other.askedAtMs = nowMs;
    send({ kind: 'ask', replica: self, of: replica });
  }

  function forget(replica: string): void {
    others.delete(replica);
    members.replace(replica, []);
  }

  function takeChanges({ replica, number, changes }: MessageOf<'changes'>): void {
    const other = heard(replica);
    if (other.number === undefined || number > other.number + 1) {
      ask(replica, other);
      return;
    }
    // Its known state contains these changes.
    if (number <= other.number) return;
    other.number = number;
    for (const [channel, key, state, atMs] of changes)
      members.set(replica, channel, key, state === undefined || atMs === undefined ? undefined : { state, atMs });
  }

  function takeBeat({ replica, number }: MessageOf<'beat'>): void {
    const other = heard(replica);
    if (other.number !== number) ask(replica, other);
  }

  function takeState({ replica, number, part, parts, members: list }: MessageOf<'state'>): void {
    const other = heard(replica);
    if (other.state?.number !== number) other.state = { number, parts: new Map() };
    other.state.parts.set(part, list);
    if (other.state.parts.size < parts) return;
    const all = [...other.state.parts.values()].flat();
    other.state = undefined;
    other.number = number;
    members.replace(
      replica,
      all.map(([channel, key, state, atMs]): [string, string, Member] => [channel, key, { state, atMs }]),
    );
  }

  function take(text: string): void {
    const message = readPresenceMessage(text);
    if (!message || message.replica === self) return;
    if (message.kind === 'changes') takeChanges(message);
    else if (message.kind === 'state') takeState(message);
    else if (message.kind === 'beat') takeBeat(message);
    else if (message.kind === 'bye') forget(message.replica);
    else if (message.of === undefined || message.of === self) onAsked();
  }

  function sweep(): void {
    const nowMs = performance.now();
    const stalledMs = nowMs - sweptAtMs > stallMs ? nowMs - sweptAtMs : 0;
    sweptAtMs = nowMs;
    for (const [replica, other] of others) {
      other.heardAtMs += stalledMs;
      if (nowMs - other.heardAtMs > silentMs) forget(replica);
    }
  }

  const sweeping = every({
    name: 'forget replicas that have died',
    log,
    intervalMs: sweepMs,
    run: async () => sweep(),
  });

  return {
    start() {
      const endMessages = bus.subscribe('presence', take);
      const endConnects = bus.onConnect(() => send({ kind: 'ask', replica: self }));
      sweptAtMs = performance.now();
      sweeping.start();
      endListening = () => {
        endMessages();
        endConnects();
      };
    },
    async stop() {
      endListening();
      await sweeping.stop();
    },
  };
}
