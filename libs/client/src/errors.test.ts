import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClientOptions, createClient } from './create-client.ts';
import { RecordbusError } from './error.ts';
import { f } from './filter/filter.ts';
import { memoryStore } from './session/session.ts';

const answer = (body: unknown, init?: ResponseInit) => async () => Response.json(body, init);
const silence = () => new Promise<Response>(() => {});
const page = async () => new Response('<html>', { headers: { 'Content-Type': 'text/html' } });
const broken = { get: () => assert.fail('no store'), set: () => assert.fail('no store') };
const circular: Record<string, unknown> = {};
circular.self = circular;

/** A client whose requests get this answer, and a collection's records. */
function open(fetch: () => Promise<Response> = answer({ data: { id: 'x', updated: 1 } }), more: ClientOptions = {}) {
  const client = createClient('http://stack', { fetch, ...more });
  return { client, posts: client.from('posts') };
}
const soon = () => ({ signal: AbortSignal.timeout(20) });
const signedIn = { email: 'a', password: 'b' };

/** A session whose token is to be refreshed before the next request. */
const due = () => {
  const claims = btoa(JSON.stringify({ iat: 1000, exp: 2000 }));
  return { store: memoryStore({ token: `a.${claims}.c`, receivedAtMs: 1_000_000 }) };
};

const cases: readonly (readonly [what: string, code: string, work: () => unknown])[] = [
  ['an id that is undefined', 'invalid_argument', () => open().posts.get(undefined as never)],
  ['half of a surrogate pair as an id', 'invalid_argument', () => open().posts.get('\ud800')],
  ['half of a surrogate pair in a filter', 'invalid_argument', () => open().posts.list({ filter: f`a = ${'\ud800'}` })],
  ['circular values', 'invalid_argument', () => open().posts.create(circular)],
  ['a large integer', 'invalid_argument', () => open().posts.update('x', { size: 1n })],
  [
    'circular values of a batch',
    'invalid_argument',
    () => open().client.batch((b) => b.from('posts').create(circular)),
  ],
  [
    'circular values next to a file',
    'invalid_argument',
    () => open().posts.create({ circular, file: new Blob(['a']) }),
  ],
  ['circular values for a channel', 'invalid_argument', () => open().client.broadcast('room', circular)],
  ['no record', 'invalid_argument', () => open().posts.update(null as never, {})],
  ['a page as the answer to a get', 'unexpected_answer', () => open(page).posts.get('x')],
  ['a page as the answer to a create', 'unexpected_answer', () => open(page).posts.create({})],
  ['a page as the answer to a list', 'unexpected_answer', () => open(page).posts.list()],
  ['an answer without a record', 'unexpected_answer', () => open(answer({ data: null })).posts.get('x')],
  ['an answer without records', 'unexpected_answer', () => open(answer({ data: null })).posts.first()],
  [
    'an answer without records in the middle of a list',
    'unexpected_answer',
    () =>
      open(answer({ data: null }))
        .posts.all()
        .next(),
  ],
  ['no groups', 'unexpected_answer', () => open(answer({ data: 5 })).posts.aggregate({ count: true })],
  [
    'too few results',
    'unexpected_answer',
    () => open(answer({ data: [] })).client.batch((b) => b.from('a').delete('x')),
  ],
  [
    'no token',
    'unexpected_answer',
    () =>
      open(answer({ data: null }))
        .client.auth('users')
        .login(signedIn),
  ],
  ['no data', 'unexpected_answer', () => open(answer({ ok: true })).client.admin.settings.get()],
  ['no history', 'unexpected_answer', () => open(answer({ ok: true })).posts.history('x')],
  ['a refusal without words', 'unexpected_answer', () => open(answer(null, { status: 400 })).posts.list()],
  ['a store that fails', 'store_failed', () => open(undefined, { store: broken }).posts.list()],
  ['an address without http://', 'invalid_argument', () => createClient('localhost:8080')],
  ['an address of another protocol', 'invalid_argument', () => createClient('ws://localhost:8080')],
  ['an address without a host', 'invalid_argument', () => createClient('https://')],
  ['a list that waits for a refresh', 'aborted', () => open(silence, due()).posts.list(soon())],
  ['a list that was aborted before', 'aborted', () => open().posts.list({ signal: AbortSignal.abort() })],
  ['a live list that has not begun', 'aborted', () => open(silence).posts.live(soon())],
  ['a live list that was aborted before', 'aborted', () => open(silence).posts.live({ signal: AbortSignal.abort() })],
  ['a subscription that has not begun', 'aborted', () => open(silence).posts.subscribe({ onMessage() {}, ...soon() })],
  [
    'a channel that has not begun',
    'aborted',
    () => open(silence).client.channel('room', { onMessage() {}, ...soon() }),
  ],
];

for (const [what, code, work] of cases)
  test(`the error of ${what} is of the one class: ${code} [client §2.4]`, async () => {
    await assert.rejects(
      async () => work(),
      (error) => error instanceof RecordbusError && error.code === code,
    );
  });

test('an error in a page of another origin names the setting that admits it', async () => {
  const messageAt = async (origin: string | undefined, url: string) => {
    const before = Object.getOwnPropertyDescriptor(globalThis, 'location');
    Object.defineProperty(globalThis, 'location', { value: origin && { origin }, configurable: true });
    try {
      const fetch = () => Promise.reject(new TypeError('Failed to fetch'));
      const { message } = await createClient(url, { fetch })
        .from('posts')
        .update('x', {})
        .then(
          () => assert.fail('there was no error'),
          (error: unknown) => error as RecordbusError,
        );
      return message;
    } finally {
      if (before) Object.defineProperty(globalThis, 'location', before);
      else Reflect.deleteProperty(globalThis, 'location');
    }
  };
  const setting = /cors\.origins must name http:\/\/app:3000\.$/;
  assert.match(await messageAt('http://app:3000', 'http://stack'), setting);
  assert.doesNotMatch(await messageAt('http://stack', 'http://stack/'), /cors/);
  assert.doesNotMatch(await messageAt(undefined, 'http://stack'), /cors/);
});
