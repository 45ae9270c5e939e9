import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { repository } from './harness/stack.ts';
import { createStrictProject } from './harness/strict-project.ts';

const directory = mkdtempSync(join(tmpdir(), 'recordbus-documented-strict-'));
after(() => rmSync(directory, { recursive: true }));
const project = createStrictProject(directory);

test('the extensions in the tutorial and on the page about extensions compile in strict mode', async () => {
  const files: string[] = [];
  for (const page of ['docs/tutorial.md', 'docs/extensions.md'])
    for (const [, path = '', source = ''] of readFileSync(join(repository, page), 'utf8').matchAll(
      /^```ts\n\/\/ (\S+\.ts)\n(.*?)\n```$/gms,
    )) {
      project.write(basename(path), source);
      files.push(basename(path));
    }
  assert.ok(files.includes('tasks.ts'), 'the hook of the tutorial');
  assert.ok(files.length > 5);
  await project.compile(...files);
});
