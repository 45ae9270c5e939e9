import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sectionOf } from './changelog.ts';
import { answerOf } from './programs.ts';

const root = join(import.meta.dirname, '../..');
const released: { readonly version: string; readonly commit: string } = JSON.parse(
  readFileSync(join(root, 'infra/upgrade/released.json'), 'utf8'),
);
const then = answerOf('git', ['show', `${released.commit}:CHANGELOG.md`]);

test("the last release's section is as it was released: a merge puts later lines there without a conflict", {
  skip: then === undefined && "the release's commit is not in this clone",
}, () => {
  const now = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const added = sectionOf(now, released.version)
    .split('\n')
    .filter(
      (line) =>
        !sectionOf(then ?? '', released.version)
          .split('\n')
          .includes(line),
    );
  assert.deepEqual(added, [], 'move these lines to "Unreleased"');
});
