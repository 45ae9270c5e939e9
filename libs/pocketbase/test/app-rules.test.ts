import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDirectory, translateRule } from '../src/rules/index.ts';
import { appCollections, appRules } from './app-rules.ts';

const directory = createDirectory(appCollections);

const translated = appRules.map(([name, slot, text]) => {
  const collection = directory.find(name);
  assert.ok(collection);
  return translateRule(text, slot, collection, directory);
});

const counts = {
  rules: translated.length,
  expressions: translated.filter(({ from }) => from !== null && from !== '').length,
  exact: translated.filter(({ result }) => result === 'exact').length,
  narrower: translated.filter(({ result }) => result === 'narrower').length,
  rewritten: translated.filter(({ from, to, result }) => result !== 'locked' && from && from !== to).length,
  locked: translated.filter(({ result }) => result === 'locked').length,
};

test("an app's rules are translated, all but a few", (t) => {
  t.diagnostic(JSON.stringify(counts));
  const locked = translated.filter(({ result }) => result === 'locked');
  assert.deepEqual([...new Set(locked.map(({ from }) => from))], ['title ~ "urgent%"', '@request.auth.id = ""']);
});

test('no rule is opened: only an empty text becomes null', () => {
  for (const { from, to } of translated) assert.equal(to === null, from === '');
});
