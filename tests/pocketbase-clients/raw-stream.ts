import assert from 'node:assert/strict';

/** How long a message may take, in milliseconds. */
const longestWaitMs = 90_000;

/** A realtime stream without the SDK, which would connect again by itself. */
export interface RawStream {
  /** The client's id. */
  readonly id: string;
  /** The messages that came so far: the names of their events, and their data. */
  readonly messages: readonly {
    readonly event: string;
    readonly data: { action?: string; record?: Record<string, unknown> };
  }[];
  /** Resolves when a message about a record with this member's value is here. Throws when the stream ends before. */
  waitFor(name: string, value: string): Promise<void>;
  /** Cuts the connection, and resolves when it is closed here. */
  cut(): Promise<void>;
}

/** Opens a stream at `<url>/api/realtime`, and follows topics on it. */
export async function openRawStream(
  url: string,
  topics: readonly string[],
  { token, postTo = url }: { readonly token?: string | undefined; readonly postTo?: string } = {},
): Promise<RawStream> {
  const ending = new AbortController();
  const response = await fetch(`${url}/api/realtime`, { signal: ending.signal });
  assert.equal(response.status, 200);
  assert.ok(response.body);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const messages: { event: string; data: { action?: string; record?: Record<string, unknown> } }[] = [];
  let rest = '';
  async function readMore(): Promise<void> {
    const late = new Error(`nothing came for ${longestWaitMs} ms after ${JSON.stringify(messages)}`);
    const timer = setTimeout(() => ending.abort(late), longestWaitMs);
    const { value, done } = await reader.read().finally(() => clearTimeout(timer));
    assert.equal(done, false, 'the stream is open');
    const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [event, data] = [/^event:(.*)$/m.exec(block)?.[1], /^data:(.*)$/m.exec(block)?.[1]];
      if (event !== undefined && data !== undefined) messages.push({ event, data: JSON.parse(data) });
    }
  }
  while (messages.length === 0) await readMore();
  const id = String(Object(messages.shift()?.data).clientId);
  const submitted = await fetch(`${postTo}/api/realtime`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: token }) },
    body: JSON.stringify({ clientId: id, subscriptions: topics }),
  });
  assert.equal(submitted.status, 204, await submitted.text());
  return {
    id,
    messages,
    async waitFor(name, value) {
      const late = new Error(`no message with ${name} ${value}: ${JSON.stringify(messages)}`);
      const timer = setTimeout(() => ending.abort(late), longestWaitMs);
      while (!messages.some(({ data }) => data.record?.[name] === value)) await readMore();
      clearTimeout(timer);
    },
    async cut() {
      ending.abort();
      await reader.closed.catch(() => {});
    },
  };
}
