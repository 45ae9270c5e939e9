import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { eventually } from '../eventually.ts';
import type { JsonObject } from '../json.ts';

/** A message on a live connection. */
export interface LiveMessage {
  readonly type: string;
  /** Its event's id, if it had one. */
  readonly id: string | undefined;
  readonly data: JsonObject;
}

/** A live connection over an event stream. */
export interface LiveClient extends AsyncDisposable {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body of an answer that is not an event stream. */
  readonly text: string;
  /** Every message, in order. */
  readonly messages: readonly LiveMessage[];
  /** The id of the last event that had one, as a browser keeps it. */
  readonly lastEventId: string | undefined;
  readonly isClosed: boolean;
  /** Waits until `count` messages of a type have arrived, and returns them. */
  arrived(type: string, count?: number): Promise<readonly LiveMessage[]>;
  closed(): Promise<void>;
  close(): void;
  /** Stops reading, and `resume` continues. */
  pause(): void;
  resume(): void;
}

interface LiveOptions {
  readonly token?: string | undefined;
  /** Sent with POST instead of in the query. */
  readonly asBody?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Added to the query. */
  readonly query?: string;
}

const path = '/api/v1/realtime';

/** Opens a live connection. Resolves with the answer's head, even a refusal's. */
export async function openLive(
  url: string,
  subscriptions: readonly unknown[],
  { token, asBody = false, headers = {}, query = '' }: LiveOptions = {},
): Promise<LiveClient> {
  const texts = subscriptions.map((one) => `subscribe=${encodeURIComponent(JSON.stringify(one))}`);
  const body = asBody ? JSON.stringify({ subscriptions }) : undefined;
  const target = `${url}${path}?${[...(asBody ? [] : texts), ...(query ? [query] : [])].join('&')}`;
  const outgoing = request(target, {
    method: asBody ? 'POST' : 'GET',
    agent: false,
    headers: {
      Accept: 'text/event-stream',
      ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...headers,
    },
  });
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
    outgoing.end(body);
  });
  return readLive(answer);
}

async function readLive(answer: IncomingMessage): Promise<LiveClient> {
  const messages: LiveMessage[] = [];
  let [text, lastEventId, isClosed]: [string, string | undefined, boolean] = ['', undefined, false];
  const isStream = answer.statusCode === 200;
  answer.setEncoding('utf8');
  answer.on('data', (chunk: string) => {
    text += chunk;
    if (!isStream) return;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const { event, id, data } = fieldsOf(block);
      if (id !== undefined) lastEventId = id;
      if (data !== undefined) messages.push({ type: event ?? 'message', id, data: JSON.parse(data) });
    }
  });
  const end = new Promise<void>((resolve) => {
    answer.once('error', () => {});
    answer.once('close', () => {
      isClosed = true;
      resolve();
    });
  });
  if (!isStream) await end;
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    messages,
    get text() {
      return text;
    },
    get lastEventId() {
      return lastEventId;
    },
    get isClosed() {
      return isClosed;
    },
    arrived: (type, count = 1) =>
      eventually(`${count} messages ${type}`, () => {
        const found = messages.filter((message) => message.type === type);
        return found.length >= count ? found : undefined;
      }),
    closed: () => eventually('the end of the connection', () => isClosed).then(() => {}),
    close: () => void answer.destroy(),
    pause: () => void answer.pause(),
    resume: () => void answer.resume(),
    async [Symbol.asyncDispose]() {
      answer.destroy();
      await end;
    },
  };
}

/** The fields in an event stream block (HTML §9.2.6). */
function fieldsOf(block: string): { readonly event?: string; readonly id?: string; readonly data?: string } {
  const lines = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line));
  return Object.fromEntries(lines.flatMap((match) => (match ? [[match[1], match[2]]] : [])));
}
