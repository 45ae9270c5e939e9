import { createFrame, type Frame } from '../messages/frame.ts';
import { createKeptFrames } from '../messages/kept-frames.ts';

/** One message to a channel's subscriptions. */
export interface ChannelMessage {
  readonly type: 'broadcast' | 'presence';
  /** Returns the message for a subscription with this id. */
  of(sub: string): Frame;
}

/**
 * Creates a message; `rest` is the JSON text for the members after `sub`. Subscriptions with the same id get the same
 * bytes.
 */
function createChannelMessage(type: ChannelMessage['type'], rest: string): ChannelMessage {
  const kept = createKeptFrames();
  return {
    type,
    of: (sub) => kept.of(kept, sub, () => createFrame(type, `{"sub":${JSON.stringify(sub)},${rest}}`)),
  };
}

/** A publisher's message; `from` and `data` are JSON text (realtime §7.4). */
export const broadcastMessage = (channel: string, data: string, from: string): ChannelMessage =>
  createChannelMessage('broadcast', `"channel":${JSON.stringify(channel)},"data":${data},"from":${from}`);

/** All members (realtime §7.5). */
export const presentMessage = (channel: string, present: Iterable<readonly [string, string]>): ChannelMessage =>
  createChannelMessage('presence', `"channel":${JSON.stringify(channel)},"present":${objectText(present)}`);

/** Members that joined or changed their state, and members that left. */
export const presenceChange = (
  channel: string,
  joined: Iterable<readonly [string, string]>,
  left: readonly string[],
): ChannelMessage =>
  createChannelMessage(
    'presence',
    `"channel":${JSON.stringify(channel)},"joined":${objectText(joined)},"left":${JSON.stringify(left)}`,
  );

const objectText = (entries: Iterable<readonly [string, string]>): string =>
  `{${Array.from(entries, ([key, state]) => `${JSON.stringify(key)}:${state}`).join(',')}}`;
