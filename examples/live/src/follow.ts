// Follows a collection, and prints each change of its list, forever:
//   URL=http://localhost:8080 TOKEN=… npm run node -- examples/live/src/follow.ts tasks 'done = false'
import { setTimeout as delay } from 'node:timers/promises';
import { type ListMessage, LiveList } from './live-list.ts';
import { readEvents } from './read-events.ts';

/** A heartbeat comes every 15 s. After this much silence the connection is dead. */
const silenceMs = 40_000;

const { URL: server = 'http://localhost:8080', TOKEN: token } = process.env;
const [collection, filter] = process.argv.slice(2);
if (!collection) throw new Error('usage: follow.ts <collection> [filter]');

const list = new LiveList();
/** Where to resume; undefined until the list has been read, and again when it has to be read again. */
let cursor: string | undefined;
let failures = 0;

for (;;) {
  const waitMs = await follow().catch(() => backoffMs());
  await delay(waitMs);
}

/** Follows until the connection ends. Returns how long to wait before the next one, in milliseconds. */
async function follow(): Promise<number> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), silenceMs);
  try {
    const response = await fetch(new URL('/api/v1/realtime', server), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
      // With a cursor, the server sends the changes since then instead of a snapshot, unless some are lost.
      body: JSON.stringify({ subscriptions: [{ collection, filter, snapshot: { perPage: 1000 }, after: cursor }] }),
      signal: silence.signal,
    });
    if (!response.ok || !response.body) return await refused(response);
    say(cursor === undefined ? 'connected' : 'connected again');
    for await (const { type, id, data } of readEvents(response.body)) {
      timer.refresh();
      failures = 0;
      if (data !== undefined) {
        const message = JSON.parse(data);
        if (type === 'reconnect') return message.after_ms;
        if (type === 'revoked') giveUp(`the rights of this connection have ended: ${message.reason}`);
        if (type === 'error') giveUp(message.error);
        if (type === 'resync') {
          say(`resync: ${message.reason}`);
          cursor = undefined;
          return 0;
        }
        if (list.apply(type, message)) show(type, message);
        if (type === 'snapshot') cursor = message.cursor;
      }
      // A cursor is useless before the list has been read.
      if (cursor !== undefined && id !== undefined) cursor = id;
    }
    return backoffMs();
  } finally {
    clearTimeout(timer);
  }
}

/** Ends the program if another attempt would be refused too. */
async function refused(response: Response): Promise<number> {
  const { error } = (await response.json()) as { readonly error: string };
  if (response.status < 500 && response.status !== 429) giveUp(error);
  say(`${response.status}: ${error}`);
  return Math.max(Number(response.headers.get('retry-after') ?? 0) * 1000, backoffMs());
}

/** Doubles after each failure, up to 30 s. A random part keeps clients from reconnecting all at once. */
function backoffMs(): number {
  failures += 1;
  return Math.min(250 * 2 ** failures, 30_000) * (0.5 + Math.random() / 2);
}

function show(type: string, { record, id }: ListMessage): void {
  say(`${type} ${JSON.stringify(record ?? id ?? '')}: ${[...list].length} records`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function giveUp(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
