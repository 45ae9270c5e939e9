import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readTutorial } from './harness/docs/tutorial-page.ts';
import { checkStep, startReader } from './harness/docs/tutorial-walk.ts';

/** The schema snapshot that the page exports, from the directory that it makes for its files. */
function readSnapshot(directory: string): string {
  const [made = ''] = readdirSync(directory).filter((name) => name.startsWith('tmp.'));
  return readFileSync(join(directory, made, 'tracker.json'), 'utf8');
}

test('the tutorial leads from an empty clone to a task tracker', async (t) => {
  const tutorial = readTutorial();
  const steps = tutorial.steps.slice(0, tutorial.stepsWithoutDocker);
  await using reader = await startReader(tutorial);
  const outputs = await reader.run(steps, { patienceMs: 60_000 });
  for (const [index, step] of steps.entries())
    await t.test(`docs/tutorial.md: ${step.commands.split('\n')[0]}`, () => checkStep(step, outputs[index]));
  const text = outputs.map((output) => output.text).join('\n');
  assert.match(text, /Use the blue oil\./);
  assert.match(text, /^genuine$/m);
  assert.match(readSnapshot(reader.directory), /"name": ?"members"/);
});
