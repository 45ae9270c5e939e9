import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createShapeCache } from './shape-cache.ts';

describe('the shaped statement cache', () => {
  it('composes a shape once and names its text', () => {
    const find = createShapeCache('list');
    let composed = 0;
    const compose = () => {
      composed += 1;
      return { text: 'select 1' };
    };
    const first = find('a', compose, false);
    assert.equal(find('a', compose, false), first);
    assert.equal(composed, 1);
    assert.match(first.name ?? '', /^list [\w-]{22}$/);
    assert.equal(createShapeCache('list')('b', compose, false).name, first.name);
  });

  it('names at most 64 shapes, keeps at most 500, and serves them all', () => {
    const find = createShapeCache('list');
    const statements = Array.from({ length: 600 }, (_, n) => find(`${n}`, () => ({ text: `select ${n}` }), false));
    assert.equal(statements.filter(({ name }) => name).length, 64);
    assert.deepEqual(statements[599], { text: 'select 599' });
    assert.equal(find('599', () => ({ text: 'composed again' }), false).text, 'composed again');
    assert.ok(find('plain', () => ({ text: 'select plain' }), true).name);
    assert.equal(find('499', () => ({ text: 'composed again' }), false).text, 'select 499');
  });

  it('neither names nor keeps a very long shape', () => {
    const find = createShapeCache('get');
    const shape = 'x'.repeat(1000);
    assert.deepEqual(
      find(shape, () => ({ text: 'select 1' }), false),
      { text: 'select 1' },
    );
    assert.equal(find(shape, () => ({ text: 'select 2' }), false).text, 'select 2');
  });
});
