import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const folder = join(import.meta.dirname, '../../../docs/decisions');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const records = readdirSync(folder)
  .filter((name) => name !== 'README.md')
  .sort();

test('the decisions are numbered, short and in the index', () => {
  assert.ok(records.length > 10);
  const rows = records.map((name, position) => {
    const text = read(name);
    const [, number, title = ''] = /^# (\d+)\. (.+)\n/.exec(text) ?? [];
    assert.equal(number, String(position + 1), name);
    assert.equal(name.slice(0, 5), `${String(number).padStart(4, '0')}-`);
    assert.ok(text.split('\n').length <= 41, `${name} has more than 40 lines`);
    for (const part of ['**Decision.**', '**Consequences.**']) assert.ok(text.includes(part), `${name}: ${part}`);
    return `| ${number} | [${title}](${name}) |`;
  });
  assert.deepEqual(read('README.md').match(/^\| \d+ \|.*$/gm), rows);
});
