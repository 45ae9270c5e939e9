import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../create-client.ts';
import { RecordbusError } from '../error.ts';
import type { Session } from '../session/session.ts';

const events = { headers: { 'Content-Type': 'text/event-stream' } };
const token = (iat: number): string => `a.${btoa(JSON.stringify({ iat, exp: iat + 100 }))}.c`;

test('a page that only follows changes keeps its session', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000_000_000 });
  let session: Session | undefined = { token: token(1_000_000_000), receivedAtMs: Date.now() };
  const store = {
    get: () => session,
    set: (next: Session | undefined) => {
      session = next;
    },
  };
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const write = (type: string, data: object): Promise<void> =>
    writer.write(new TextEncoder().encode(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`));
  const refreshed = Promise.withResolvers<void>();
  const client = createClient('http://stack', {
    store,
    fetch: async (input) => {
      if (!String(input).endsWith('/auth/refresh')) return new Response(readable, events);
      refreshed.resolve();
      return Response.json({ data: { token: token(1_000_000_060) } });
    },
  });
  const following = client.from('tasks').subscribe({ onMessage: () => {} });
  await write('ready', { cursor: '1-1' });
  const subscription = await following;
  t.mock.timers.setTime(1_000_000_060_000);
  await write('heartbeat', { cursor: '1-1' });
  await refreshed.promise;
  subscription.close();
  await writer.close();
  assert.ok(session);
});

test('after a break between a resync and its snapshot, the client asks for the snapshot again', async () => {
  const sent: { subscriptions: readonly Readonly<Record<string, unknown>>[] }[] = [];
  const answers = [
    [
      ['ready', { cursor: '1-1' }],
      ['snapshot', { sub: '1', records: [{ id: 'old' }], total: 1, cursor: '1-1' }],
    ],
    [
      ['ready', { cursor: '1-9' }],
      ['resync', { sub: '1', reason: 'too_far_behind', cursor: '1-9' }],
    ],
    [
      ['ready', { cursor: '1-9' }],
      ['snapshot', { sub: '1', records: [{ id: 'new' }], total: 1, cursor: '1-9' }],
    ],
  ] as const;
  const client = createClient('http://stack', {
    fetch: async (_input, init) => {
      sent.push(JSON.parse(String(init?.body)));
      const messages = answers[sent.length - 1] ?? [];
      const texts = messages.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
      return new Response(texts.join(''), events);
    },
  });
  const isRight = Promise.withResolvers<void>();
  const list = await client.from('tasks').live();
  list.onChange((records) => {
    if (records[0]?.id === 'new') isRight.resolve();
  });
  await isRight.promise;
  list.close();
  const afters = sent.slice(0, 3).map(({ subscriptions }) => subscriptions[0]?.after);
  assert.deepEqual(afters, [undefined, '1-1', undefined]);
});

test("a proxy's page ends what has not begun, and is waited out by what has", async () => {
  const page = () => new Response('<html>', { headers: { 'Content-Type': 'text/html' } });
  const never = createClient('http://stack', { fetch: async () => page() });
  await assert.rejects(
    never.from('tasks').live(),
    (error) => error instanceof RecordbusError && error.code === 'unexpected_answer',
  );
  const message = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  const first = message('snapshot', { sub: '1', records: [{ id: 'a' }], total: 1, cursor: '1-1' });
  const later = message('delete', { sub: '1', id: 'a', version: '2', cursor: '1-2' });
  const answers = [first, undefined, later];
  const client = createClient('http://stack', {
    fetch: async () => {
      const text = answers.shift();
      return text === undefined ? page() : new Response(text, events);
    },
  });
  const isRight = Promise.withResolvers<void>();
  const list = await client.from('tasks').live();
  list.onChange((records) => records.length === 0 && isRight.resolve());
  await isRight.promise;
  assert.equal(list.error, undefined);
  list.close();
});
