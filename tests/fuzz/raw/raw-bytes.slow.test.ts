import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../harness/eventually.ts';
import { textAt } from '../../harness/json.ts';
import { loggedErrors } from '../../harness/processes/logs.ts';
import { listDescendants } from '../../harness/processes/processes.ts';
import { firstAdmin, type Stack, startStack, type Topology } from '../../harness/stacks/stack.ts';
import { createRandom } from './random.ts';
import {
  collection,
  csvCase,
  formCase,
  frameCase,
  headCase,
  imageCase,
  type MakeCase,
  ndjsonCase,
} from './raw-cases.ts';
import { sendRaw } from './send-raw.ts';

/** Every run sends the same bytes unless FUZZ_SEED is set. */
const seed = Number(process.env.FUZZ_SEED ?? 20_261_128);
/** How many cases all groups have together. */
const cases = Number(process.env.FUZZ_CASES ?? (process.env.TEST_TOPOLOGIES === 'fewest' ? 2000 : 4000));
const topology: Topology = process.env.FUZZ_TOPOLOGY === 'processes' ? 'processes' : 'one';

/** How many connections send at once. */
const atOnce = 16;

test(`no bytes end a process, whatever is sent (FUZZ_SEED=${seed}, FUZZ_CASES=${cases}, ${topology})`, async (t) => {
  await using stack = await startStack({ topology });
  const admin = await stack.admin();
  const { data } = (await stack.guest.send('POST', '/api/v1/admin/login', { body: firstAdmin })).json as {
    data: unknown;
  };
  const token = textAt(data, 'token');
  await admin.patch('/api/v1/admin/settings', { 'rate_limit.enabled': '0' });
  const fields = [
    { name: 'title', type: 'text' },
    { name: 'tags', type: 'select', options: { values: ['a', 'b'], multiple: true } },
    { name: 'photo', type: 'file' },
  ];
  await admin.post('/api/v1/collections', { name: collection, type: 'base', fields });
  const pids = pidsOf(stack);
  const groups: readonly (readonly [name: string, share: number, make: MakeCase, after?: After])[] = [
    ['forms', 0.4, formCase],
    ['images', 0.1, imageCase, readPreview],
    ['CSV', 0.1, csvCase(token)],
    ['NDJSON', 0.1, ndjsonCase(token)],
    ['frames of WebSockets', 0.15, frameCase],
    ['heads of requests', 0.15, headCase],
  ];
  for (const [name, share, make, after] of groups)
    await t.test(`${Math.round(cases * share)} ${name}`, async () => {
      const counts = await sendAll(stack, Math.round(cases * share), make, after);
      t.diagnostic(`${name}: ${[...counts].map(([status, count]) => `${count} × ${status}`).join(', ')}`);
      // Any bytes are a file.
      if (!after)
        assert.ok(
          [...counts.keys()].some((status) => status >= 400),
          'the cases are broken',
        );
      assert.deepEqual(pidsOf(stack), pids, 'no process has ended');
      await eventually('the stack answers', async () => (await stack.guest.send('GET', '/readyz')).status === 200);
    });
  assert.deepEqual(loggedErrors(stack.process.lines).slice(0, 3), []);
});

type After = (stack: Stack, bytes: Buffer) => Promise<number | undefined>;

/** Sends the cases, and counts the statuses. Throws for a status that means the server itself failed. */
async function sendAll(stack: Stack, count: number, make: MakeCase, after?: After): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  let next = 0;
  async function sendNext(): Promise<void> {
    for (let index = next++; index < count; index = next++) {
      const pieces = make(createRandom(seed + index * 7919));
      const { statuses, bytes } = await sendRaw(stack.url, pieces);
      const more = await after?.(stack, bytes);
      for (const status of more === undefined ? statuses : [...statuses, more]) {
        counts.set(status, (counts.get(status) ?? 0) + 1);
        const sent = () =>
          `case ${index}: ${status} to ${JSON.stringify(Buffer.concat(pieces).toString('latin1').slice(0, 2000))}: ${bytes}`;
        assert.ok(status < 500 && (status >= 400 || status < 300 || status === 304), sent());
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sendNext));
  return counts;
}

/** Reads the uploaded image's preview. */
async function readPreview({ guest }: Stack, answer: Buffer): Promise<number | undefined> {
  const [, text] = /\r\n\r\n(\{.*\})/s.exec(answer.toString()) ?? [];
  const { id, photo } = (JSON.parse(text ?? '{}') as { data?: { id: string; photo: string | null } }).data ?? {};
  if (!photo) return undefined;
  return (await guest.send('GET', `/api/v1/files/${collection}/${id}/${photo}?thumb=100x100`)).status;
}

/** The stack's processes that run services, without PostgreSQL's, whose connections come and go. */
const pidsOf = ({ process: { pid }, services }: Stack): readonly (number | undefined)[] => [
  pid,
  ...Object.values(services).map((service) => service.pid),
  ...listDescendants(pid ?? 0).flatMap((one) => (/node/.test(one.command) ? [one.pid] : [])),
];
