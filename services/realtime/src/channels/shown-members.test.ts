import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Members } from './members.ts';
import { ShownMembers } from './shown-members.ts';

const key = (index: number) => `k${index}`;

function create() {
  const noted: string[] = [];
  const members = new Members((_, changed) => noted.push(changed));
  const shown = new ShownMembers('c', members);
  const take = () => {
    for (const one of noted.splice(0)) shown.note(one);
    return shown.take();
  };
  return { members, shown, take };
}

test('at most 1,000 members are shown, and others when there is room', () => {
  const { members, shown, take } = create();
  for (let index = 0; index < 1100; index += 1) members.set('r', 'c', key(index), { state: '1', atMs: index });
  assert.equal(take()?.joined.size, 1000);
  assert.equal([...shown.entries].length, 1000);
  members.set('r', 'c', key(1099), undefined);
  assert.equal(take(), undefined);
  for (let index = 0; index < 10; index += 1) members.set('r', 'c', key(index), undefined);
  const change = take();
  assert.deepEqual([change?.joined.size, change?.left.length], [10, 10]);
  members.replace('r', []);
  assert.equal(take()?.left.length, 1000);
  assert.deepEqual([...shown.entries], []);
});

test('at most 256 KiB are shown', () => {
  const { members, shown, take } = create();
  const state = JSON.stringify('x'.repeat(4000));
  for (let index = 0; index < 100; index += 1) members.set('r', 'c', key(index), { state, atMs: 0 });
  take();
  assert.equal([...shown.entries].length, 65);
});

test('a key is present until it has left every replica, with its latest state', () => {
  const { members, shown, take } = create();
  members.set('a', 'c', 'ann', { state: '1', atMs: 1 });
  members.set('b', 'c', 'ann', { state: '2', atMs: 2 });
  assert.deepEqual([...(take()?.joined ?? [])], [['ann', '2']]);
  members.replace('b', []);
  const change = take();
  assert.deepEqual([[...(change?.joined ?? [])], change?.left], [[['ann', '1']], []]);
  members.set('a', 'c', 'ann', undefined);
  assert.deepEqual(take()?.left, ['ann']);
  members.set('a', 'c', 'bob', { state: '1', atMs: 1 });
  members.set('a', 'c', 'bob', undefined);
  assert.equal(take(), undefined);
  assert.deepEqual([...shown.entries], []);
});
