import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { onEachTopology } from '../harness/stacks/target.ts';
import { outcomeOf } from '../pocketbase-clients/normalize.ts';
import { ourSide } from '../pocketbase-clients/ours.ts';
import { differing } from '../pocketbase-clients/scenarios/differing.ts';
import { castOf } from '../pocketbase-clients/side.ts';
import { table } from '../pocketbase-clients/table.ts';

/** What PocketBase 0.40.4 answered; `pocketbase-answers.slow.test.ts` compares it with the program. */
const theirs: Readonly<Record<string, unknown>> = JSON.parse(
  readFileSync(new URL('../pocketbase-clients/answers.json', import.meta.url), 'utf8'),
);

const page = readFileSync(new URL('../../docs/pocketbase-clients.md', import.meta.url), 'utf8');

test('the page names every difference', () => {
  const scenarios = Object.entries(differing).map(([id, why]) => `| \`${id}\` | ${why} |`);
  assert.deepEqual(page.match(/^\| `Test.*$/gm), scenarios);
  const differences = table.flatMap(({ name, differs }) => (differs === undefined ? [] : [`| ${name} | ${differs} |`]));
  assert.deepEqual(
    differences.filter((row) => !page.includes(row)),
    [],
  );
});

onEachTopology("PocketBase's official client gets PocketBase's answers", async (t, target) => {
  assert.equal((await target.guest.get('/pb/api/health')).status, 404, 'while the setting is off there is no route');
  const cast = await castOf(ourSide(target));
  for (const { name, run, differs } of table)
    await t.test(name, async () => {
      const outcome = await outcomeOf(() => run(cast));
      if (differs === undefined) assert.deepEqual(outcome, theirs[name]);
      else assert.notDeepEqual(outcome, theirs[name], 'the answers are equal, so the row needs no reason');
    });
});
