import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileNamesOf } from './webhook-file-names.ts';

const filesOf = (names: readonly string[], known?: ReadonlyMap<string, string>): readonly string[] => [
  ...fileNamesOf(
    names.map((name) => ({ name })),
    known,
  ).keys(),
];

test("a file has its webhook's name where a file may have it [schema §7.2]", () => {
  const names = [
    'CRM',
    'CRM (new)',
    'Order sync v1.2',
    'Auslieferung_Köln',
    'a/b',
    '../x',
    '.env',
    'con',
    'x.test',
    'end.',
    '',
  ];
  assert.deepEqual(filesOf(names), [
    'CRM.json',
    'CRM (new).json',
    'Order sync v1.2.json',
    'Auslieferung_Köln.json',
    'a-b.json',
    'x.json',
    'env.json',
    'webhook-con.json',
    'x-test.json',
    'end.json',
    'webhook.json',
  ]);
});

test('no two webhooks share a file, not even where case is ignored', () => {
  assert.deepEqual(filesOf(['CRM', 'crm', 'CRM']), ['CRM.json', 'crm-2.json', 'CRM-3.json']);
});

test('a webhook keeps the file that has it', () => {
  assert.deepEqual(filesOf(['new', 'CRM'], new Map([['CRM', 'new.json']])), ['new.json', 'new-2.json']);
});
