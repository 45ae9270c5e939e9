import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { castOf } from '../pocketbase-clients/side.ts';
import { outcomesOf } from '../pocketbase-clients/table.ts';
import { pocketBaseProgram, startTheirs, withoutProgram } from '../pocketbase-clients/theirs.ts';

const answers = new URL('../pocketbase-clients/answers.json', import.meta.url);

test("the stored answers are PocketBase's", { skip: pocketBaseProgram === undefined && withoutProgram }, async () => {
  assert.ok(pocketBaseProgram);
  await using theirs = await startTheirs(pocketBaseProgram);
  const outcomes = await outcomesOf(await castOf(theirs));
  // `POCKETBASE_RECORD=1` stores what the program answers, after rows were added.
  if (process.env.POCKETBASE_RECORD) writeFileSync(answers, `${JSON.stringify(outcomes, null, 2)}\n`);
  assert.deepEqual(outcomes, JSON.parse(readFileSync(answers, 'utf8')));
});
