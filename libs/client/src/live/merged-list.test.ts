import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMergedList } from './merged-list.ts';

const at = 100;
const tag = (id: string, updated = at) => ({ id, name: id, updated });
const created = (id: string, version: string) => ['create', { record: tag(id), version }] as const;

/** A list with the first two by name, out of three that its snapshot counted. */
function listOfThree() {
  const list = createMergedList('name', 2);
  list.apply('snapshot', { records: [tag('a', 50), tag('b', 60)], total: 3, at });
  return list;
}

test('the total is read again after a change that it may already contain', () => {
  const list = listOfThree();
  assert.equal(list.apply(...created('z', '100')), 'total');
  list.apply('snapshot', { records: [tag('a', 50), tag('b', 60)], total: 3, at: at + 2 });
  assert.equal(list.total, 3);
  assert.equal(list.apply('leave', { id: 'y', version: '102.3' }), 'total');
  assert.equal(list.apply('delete', { id: 'x', version: '99' }), 'total');
});

test("a change after the snapshot's second is counted once", () => {
  const list = listOfThree();
  assert.equal(list.apply(...created('z', '101')), undefined);
  assert.equal(list.total, 4);
  assert.equal(list.apply(...created('z', '101')), undefined);
  assert.equal(list.apply('delete', { id: 'z', version: '101.1' }), undefined);
  assert.equal(list.total, 3);
});

test('the total is not read again for a shown record, or for a list that shows all records', () => {
  const list = listOfThree();
  assert.equal(list.apply('enter', { record: tag('a'), version: '100.1' }), undefined);
  assert.equal(list.apply('update', { record: tag('z'), version: '100' }), undefined);
  assert.equal(list.total, 3);
  const whole = createMergedList('name', 3);
  whole.apply('snapshot', { records: [tag('a')], total: 1, at });
  assert.equal(whole.apply(...created('z', '100')), undefined);
  assert.equal(whole.total, 2);
});

test('when a record leaves the list, the records that move up are read, with the total', () => {
  const list = listOfThree();
  assert.equal(list.apply('delete', { id: 'a', version: '100.1' }), 'records');
});

test('versions are remembered for all shown records and for the last thousands of others', () => {
  const list = createMergedList('name', 2);
  list.apply('snapshot', { records: [tag('a', 50), tag('b', 60)], total: 2, at });
  for (let n = 0; n < 30_000; n += 1) list.apply(...created(`z${n}`, '101'));
  assert.equal(list.total, 30_002);
  for (const old of ['z29999', 'z20000']) list.apply('delete', { id: old, version: '100.5' });
  list.apply('delete', { id: 'a', version: '40' });
  assert.deepEqual([list.total, list.records.map(({ id }) => id)], [30_002, ['a', 'b']]);
  // A record that arrived 30,000 records ago is taken for a new one.
  list.apply(...created('z0', '101'));
  assert.equal(list.total, 30_003);
});
