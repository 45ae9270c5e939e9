import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../../..');

/** The image and `npm run node` use the pinned Node; any other may be too old for TypeScript. */
const onAnyNode = /(?<!npm run )\bnode (?!infra\/cli)[^\n`]*\.ts\b/;

test("no document runs TypeScript on the reader's Node", () => {
  const files = globSync(['*.md', 'docs/*.md', 'examples/*/README.md', 'examples/*/src/*.ts', 'tests/**/README.md'], {
    cwd: root,
    exclude: ['**/node_modules/**'],
  });
  assert.ok(files.length > 30);
  const wrong = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .filter((line) => onAnyNode.test(line))
      .map((line) => `${file}: ${line}`),
  );
  assert.deepEqual(wrong, []);
});

test('the README has the command that starts the product, and the one that tests it', () => {
  const [, start = ''] = readFileSync(join(root, 'README.md'), 'utf8').split(/^## /m);
  const commands = [...start.matchAll(/^```sh\n([^`]*)\n```$/gm)].map(([, command]) => command);
  assert.deepEqual(commands.slice(0, 2), ['npm start', 'npm test']);
});
