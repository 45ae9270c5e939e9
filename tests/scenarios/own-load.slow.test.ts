import assert from 'node:assert/strict';
import { textAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

/** The largest answer, half as large as by default. 30 records with this note are just within it. */
const largestBytes = 16 * 2 ** 20;
const note = 'n'.repeat(500_000);

onEachTopology("one client's load is its own refusal, not the server's trouble", async (t, target) => {
  const admin = await target.admin();
  const fields = [
    { name: 'note', type: 'text', options: { max: 1_000_000 } },
    { name: 'n', type: 'number' },
  ];
  await admin.post('/api/v1/collections', { name: 'dear_notes', type: 'base', fields });
  await admin.patch('/api/v1/admin/settings', { 'records.max_answer_bytes': String(largestBytes) });
  for (let n = 0; n < 30; n += 1) await admin.create('dear_notes', { note, n });

  for (const [name, query] of [
    ['large answers', 'perPage=30'],
    ['large answers with a filter', 'perPage=30&filter=note~"nn"&sort=-n'],
    ['slow reads', 'perPage=1&filter=note~"x%25n%25x"&fields=n'],
  ] as const)
    await t.test(`eight equal ${name} from one client are 200, 422 or 429 [cost §1.2, §3]`, async () => {
      for (let round = 0; round < 2; round += 1) {
        const reads = Array.from({ length: 8 }, () => target.guest.send('GET', `/api/v1/dear_notes?${query}`));
        for (const { status, json, text } of await Promise.all(reads)) {
          const code = status === 200 ? '' : textAt(json, 'code');
          assert.ok(
            ['200 ', '422 too_expensive', '422 answer_too_large', '429 rate_limited'].includes(`${status} ${code}`),
            text.slice(0, 300),
          );
        }
      }
    });
});
