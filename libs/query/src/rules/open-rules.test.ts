import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeCollections, schemaOf, testCollection } from '../../test/world.ts';
import { findOpenRules, guestActions } from '../index.ts';

const closed = { list: '', view: '', create: '', update: '', delete: '' };
const schema = schemaOf(makeCollections({ users: null, organizations: null }));

describe('the rules that let guests write, or read accounts', () => {
  const open = (type: 'base' | 'auth' | 'view', rules: object): string[] =>
    findOpenRules({ ...testCollection('things', [{ name: 'title' }], { ...closed, ...rules }), type }, schema).map(
      ({ name, isConditional }) => `${name}${isConditional ? '?' : ''}`,
    );
  const all = { list: null, view: null, create: null, update: null, delete: null };

  it('are those without a condition', () => {
    assert.deepEqual(open('base', all), ['create', 'update', 'delete']);
    assert.deepEqual(open('auth', all), ['list', 'view', 'create', 'update', 'delete']);
    assert.deepEqual(open('view', all), []);
    assert.deepEqual(open('auth', {}), []);
  });

  const expressions: readonly (readonly [rule: string, mayHold: boolean])[] = [
    ['id = @request.auth.id', false],
    ['@request.auth.id != title', false],
    ['@request.auth.id !~ "x"', false],
    ['@request.auth.email = null', false],
    ['@request.auth.verified = true && title = "x"', false],
    ['@request.auth.id = id || @request.auth.type = "user"', false],
    ['@request.auth.id = id || title = "x"', true],
    ['title = "x"', true],
    ['title != @request.query.key', true],
    ['null = "x"', false],
    ['nothing = "x"', false],
  ];
  for (const [rule, mayHold] of expressions)
    it(`${rule}: ${mayHold ? 'may hold' : 'never holds'} for a guest`, () =>
      assert.deepEqual(open('base', { update: rule }), mayHold ? ['update?'] : []));

  it('are not all that guests may do', () => {
    const guests = (type: 'base' | 'auth' | 'view', rules: object): string[] =>
      guestActions({ ...testCollection('things', [{ name: 'title' }], { ...closed, ...rules }), type }, schema);
    assert.deepEqual(guests('view', all), ['list', 'view']);
    assert.deepEqual(guests('base', all), ['list', 'view', 'create', 'update', 'delete']);
    assert.deepEqual(guests('auth', { create: 'title = "x"', list: 'id = @request.auth.id' }), ['create']);
    assert.deepEqual(guests('base', { list: 'title = "x"', view: 'title = "x"', update: 'nothing = 1' }), [
      'list',
      'view',
    ]);
  });

  it("exclude accounts' create rule", () => {
    assert.deepEqual(open('auth', { create: 'title = "x"' }), []);
    assert.deepEqual(open('base', { create: 'title = "x"' }), ['create?']);
  });
});
