import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTutorial } from './tutorial-page.ts';

const block = (kind: string, text: string): string => `\`\`\`${kind}\n${text}\n\`\`\`\n`;
const terminal = [block('sh', 'git clone'), block('sh', 'npm start')];
const docker = block('sh', 'docker compose up');
const pageOf = (...blocks: readonly string[]): string => [...terminal, ...blocks, docker].join('\n');

test("a tutorial's steps are its commands with their answers", () => {
  const { clone, start, steps, stepsWithoutDocker } = parseTutorial(
    pageOf(block('sh', 'one'), block('json', '{}'), 'Then:\n', block('sh', 'two')),
  );
  assert.deepEqual([clone, start, stepsWithoutDocker], ['git clone', 'npm start', 2]);
  assert.deepEqual(steps, [
    { commands: 'one', answer: '{}' },
    { commands: 'two', answer: undefined },
    { commands: 'docker compose up', answer: undefined },
  ]);
});

const unread: Readonly<Record<string, string>> = {
  'a block of another kind': pageOf(block('sh', 'one'), block('text', 'two')),
  'a block without a kind': pageOf(block('sh', 'one'), block('', 'two')),
  'an indented block': pageOf(block('sh', 'one'), block('sh', 'two').replaceAll(/^/gm, '  ')),
  'a block with other fences': pageOf(block('sh', 'one'), block('sh', 'two').replaceAll('`', '~')),
  'an answer after words': pageOf(block('sh', 'one'), 'Then:\n', block('json', '{}')),
  'a second answer': pageOf(block('sh', 'one'), block('json', '{}'), block('json', '{}')),
  'a file without a name': pageOf(block('sh', 'one'), block('ts', 'export {};')),
};
for (const [what, page] of Object.entries(unread))
  test(`a tutorial is refused for ${what}, which no test would run`, () => {
    assert.throws(() => parseTutorial(page), assert.AssertionError);
  });
