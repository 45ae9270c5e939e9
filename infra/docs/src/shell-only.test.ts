import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findShellOnly } from './shell-only.ts';

const root = join(import.meta.dirname, '../../..');

const files = globSync(['*.md', '{docs,examples,infra,libs,services,tests}/**/*.md'], {
  cwd: root,
  exclude: (name) => name === 'node_modules',
}).sort();

test("zsh reads every document's shell blocks like sh: no comments, and addresses with parameters are quoted", () => {
  assert.ok(files.length > 50, `${files.length} files were found`);
  const found = files.flatMap((file) =>
    findShellOnly(readFileSync(join(root, file), 'utf8')).map(({ line, text }) => `${file}:${line}: ${text}`),
  );
  assert.deepEqual(found, []);
});

const linesIn = (...commands: readonly string[]): readonly number[] =>
  findShellOnly(['Text # 1', '', '```sh', ...commands, '```', '', '# Heading'].join('\n')).map(({ line }) => line);

test('comments between commands, and after them, are found', () => {
  assert.deepEqual(linesIn('# first', 'one', 'two # then', 'three'), [4, 6]);
  assert.deepEqual(linesIn('one;# first', '  # second'), [4, 5]);
  assert.deepEqual(linesIn("one '", "' # after a text of two lines"), [5]);
  assert.deepEqual(linesIn("cat <<'END'", "it's", 'END', 'one # after a document'), [7]);
});

test('other signs with the same form are not comments', () => {
  assert.deepEqual(linesIn(`one '# a' "# b" "\\" # c" \\# d`, 'two $# http://localhost/#z'), []);
  assert.deepEqual(linesIn('cat <<END', '# a line of the document', 'END'), []);
  assert.deepEqual(linesIn("one '", '# a line of the text', "'"), []);
  assert.deepEqual(findShellOnly('```ts\n# not a shell\n```\n'), []);
});

test('addresses with an unquoted parameter are found', () => {
  const quoted = ["curl 'http://localhost/a?b=1'", 'curl "$URL/a?b=1"', 'curl $URL/a -d x?', 'echo $?'];
  assert.deepEqual(linesIn(...quoted), []);
  assert.deepEqual(
    linesIn('curl -OJ http://localhost/a?b=1', 'curl $URL/a?b=1', 'curl localhost:8080/api/*'),
    [4, 5, 6],
  );
});
