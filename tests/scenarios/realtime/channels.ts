import type { Client } from '../../harness/clients/client.ts';
import type { LiveClient } from '../../harness/clients/live-client.ts';
import type { JsonObject } from '../../harness/json.ts';
import { followedEverywhere } from '../../harness/stacks/followed-settings.ts';

interface ChannelEntry {
  readonly pattern: string;
  readonly publish_rule: string | null;
  readonly subscribe_rule: string | null;
}

/** The path where messages are sent to a channel. */
export const channelPath = (channel: string): string => `/api/v1/realtime/channels/${encodeURIComponent(channel)}`;

/** Sets channel rules, and waits until every process has them. */
export const setChannels = (admin: Client, entries: readonly ChannelEntry[]) =>
  followedEverywhere(admin).patch('/api/v1/admin/settings', { 'realtime.channels': JSON.stringify(entries) });

/** Returns the present members, by a connection's messages. */
export function present({ messages }: Pick<LiveClient, 'messages'>): JsonObject {
  const states = new Map<string, unknown>();
  for (const { type, data } of messages) {
    if (type !== 'presence') continue;
    if (data.present) states.clear();
    for (const [key, state] of Object.entries({ ...objectOf(data.present), ...objectOf(data.joined) }))
      states.set(key, state);
    for (const key of [data.left].flat()) states.delete(String(key));
  }
  return Object.fromEntries(states) as JsonObject;
}

const objectOf = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});
