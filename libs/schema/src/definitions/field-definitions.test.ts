import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '@recordbus/errors';
import type { Collection } from '../collection.ts';
import type { Field } from '../field.ts';
import { fieldTypes } from '../fields/index.ts';
import type { DefinitionContext } from './field-definition.ts';
import { readFieldDefinitions } from './field-definitions.ts';
import { createProblems } from './problems.ts';

const known: Pick<Collection, 'name' | 'type'>[] = [
  { name: 'posts', type: 'base' },
  { name: 'tags', type: 'base' },
  { name: 'stats', type: 'view' },
];
const context: DefinitionContext = {
  collectionType: 'base',
  findCollection: (name) => known.find((collection) => collection.name === name),
};

function read(input: unknown, rest: Partial<DefinitionContext> = {}): Field[] {
  const problems = createProblems();
  const fields = readFieldDefinitions(input, { ...context, ...rest }, problems);
  problems.throwIfAny();
  return fields;
}

function problemsOf(input: unknown, rest?: Partial<DefinitionContext>): Record<string, unknown> | undefined {
  try {
    read(input, rest);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof AppError);
    assert.equal(error.status, 422);
    return error.details;
  }
}

describe('valid definitions', () => {
  test('are unchanged when they are read again, including system fields', () => {
    const fields = read([{ name: 'nick', type: 'text' }], { collectionType: 'auth' });
    assert.deepEqual(
      fields.map(({ name }) => name),
      ['email', 'verified', 'nick'],
    );
    assert.deepEqual(read(fields, { collectionType: 'auth', previous: fields }), fields);
  });

  test('are completed: id, required, options with their defaults', () => {
    const [field] = read([{ name: 'title', type: 'text' }]);
    assert.match(field?.id ?? '', /^[a-z0-9]{12}$/);
    assert.deepEqual(field, {
      id: field?.id,
      name: 'title',
      type: 'text',
      required: false,
      system: false,
      options: { unique: false, encrypted: false },
    });
  });

  test("may be the array's JSON text [collections §2.1]", () => {
    assert.equal(read('[{"name":"title","type":"text"}]')[0]?.name, 'title');
    assert.deepEqual(read('[]'), []);
  });

  test('keep their ids; their `system` is ignored', () => {
    const [field] = read([{ id: 'Own-id_1', name: 'title', type: 'text', system: true, collection: null }]);
    assert.deepEqual([field?.id, field?.system], ['Own-id_1', false]);
  });

  test('on relations name a collection', () => {
    assert.equal(read([{ name: 'post', type: 'relation', collection: 'posts' }])[0]?.collection, 'posts');
  });

  test('may have names that are reserved elsewhere', () => {
    const names = ['password', 'xMin', 'constructor', 'records', 'email'];
    assert.deepEqual(
      read(names.map((name) => ({ name, type: 'text' }))).map(({ name }) => name),
      names,
    );
  });
});

describe("problems are reported under the definition's path", () => {
  const name = 'must begin with a letter and have at most 63 letters, digits and underscores';
  const types = `must be one of ${[...fieldTypes.keys()].join(', ')}`;
  const text = (fieldName: string, rest: object = {}) => ({ name: fieldName, type: 'text', ...rest });
  const cases: [string, unknown, Record<string, string>][] = [
    ['an object', { name: 'a' }, { fields: 'must be a list of field definitions' }],
    ['a text that is not JSON', 'title', { fields: 'must be a list of field definitions' }],
    ['JSON that is not a list', '{"a":1}', { fields: 'must be a list of field definitions' }],
    ['null', null, { fields: 'must be a list of field definitions' }],
    ['too many definitions', Array(401).fill(text('a')), { fields: 'must have at most 400 fields' }],
    [
      'too many values',
      ['a', 'b', 'c'].map((name) => ({ name, type: 'select', options: { values: Array(6667).fill('v') } })),
      { fields: 'must have at most 20000 values to choose from, all fields together' },
    ],
    [
      'definitions that are not objects',
      ['title', null, []],
      { 'fields.0': 'must be an object', 'fields.1': 'must be an object', 'fields.2': 'must be an object' },
    ],
    ['a missing name and type', [{}], { 'fields.0.name': 'is required', 'fields.0.type': 'is required' }],
    [
      'an invalid name',
      [text('1a'), text('a-b'), text('')],
      { 'fields.0.name': name, 'fields.1.name': name, 'fields.2.name': name },
    ],
    [
      'a reserved name',
      [text('id'), text('Created')],
      { 'fields.0.name': '"id" is reserved', 'fields.1.name': '"Created" is reserved' },
    ],
    ["a name of the database's own", [text('xmin')], { 'fields.0.name': '"xmin" is reserved by the database' }],
    ['a duplicate name', [text('a'), text('A')], { 'fields.A.name': "is already another field's name" }],
    [
      'a duplicate id',
      [text('a', { id: 'x' }), text('b', { id: 'x' })],
      { 'fields.b.id': "is already another field's id" },
    ],
    [
      'an invalid id',
      [text('a', { id: 'x'.repeat(25) })],
      { 'fields.a.id': 'must have 1 to 24 letters, digits, underscores and hyphens' },
    ],
    ['an unknown type', [{ name: 'a', type: 'enum' }], { 'fields.a.type': types }],
    ['an inherited member as type', [{ name: 'a', type: 'constructor' }], { 'fields.a.type': types }],
    [
      'an unknown key',
      [text('a', { values: ['x'] }), text('b', { constructor: 1 })],
      { 'fields.a.values': 'is not known here', 'fields.b.constructor': 'is not known here' },
    ],
    [
      'an option outside the options',
      [text('a', { min: 'x' }), { name: 's', type: 'select', values: ['x'] }],
      { 'fields.a.min': 'belongs in options', 'fields.s.values': 'belongs in options' },
    ],
    [
      'required that is not a boolean',
      [text('a', { required: 'yes' })],
      { 'fields.a.required': 'must be true or false' },
    ],
    [
      'options that are not an object',
      [text('a', { options: [] }), text('b', { options: null })],
      { 'fields.a.options': 'must be an object', 'fields.b.options': 'must be an object' },
    ],
    ['an unknown option', [text('a', { options: { size: 1 } })], { 'fields.a.options.size': 'is not known here' }],
    [
      'an option with the name of an inherited member',
      JSON.stringify([text('a', { options: { toString: 1 } })]),
      { 'fields.a.options.toString': 'is not known here' },
    ],
    [
      'an invalid option',
      [text('a', { options: { min: 2, max: 1 } })],
      { 'fields.a.options.min': 'must not be above max' },
    ],
    [
      'a select without values',
      [{ name: 's', type: 'select' }],
      { 'fields.s.options.values': 'must be a list of the values to choose from' },
    ],
    ['a relation without a collection', [{ name: 'r', type: 'relation' }], { 'fields.r.collection': 'is required' }],
    [
      'a relation to an unknown collection',
      [{ name: 'r', type: 'relation', collection: 'Posts' }],
      { 'fields.r.collection': 'there is no collection "Posts"' },
    ],
    [
      'a relation to a view',
      [{ name: 'r', type: 'relation', collection: 'stats' }],
      { 'fields.r.collection': '"stats" is a view and stores no records' },
    ],
    [
      'a target for another type',
      [text('a', { collection: 'posts' })],
      { 'fields.a.collection': 'is not for text fields' },
    ],
  ];
  for (const [what, input, details] of cases) test(what, () => assert.deepEqual(problemsOf(input), details));

  test('an option named __proto__ is unknown', () => {
    const input = '[{"name":"a","type":"text","options":{"__proto__":1}},{"name":"b","type":"text","__proto__":1}]';
    assert.deepEqual(problemsOf(input), {
      'fields.a.options.__proto__': 'is not known here',
      'fields.b.__proto__': 'is not known here',
    });
  });

  test('more names are reserved on auth collections', () => {
    assert.deepEqual(problemsOf([text('anonymous'), text('Password')], { collectionType: 'auth' }), {
      'fields.0.name': '"anonymous" is reserved',
      'fields.1.name': '"Password" is reserved',
    });
  });
});

describe("an existing collection's definitions", () => {
  const previous = read([
    { name: 'title', type: 'text' },
    { name: 'post', type: 'relation', collection: 'posts' },
  ]);
  const [title, post] = previous;

  test('refer to fields by id, or without an id by name', () => {
    const ids = (input: unknown) => read(input, { previous }).map(({ id }) => id);
    assert.deepEqual(
      ids([
        { ...post, name: 'about' },
        { name: 'title', type: 'text' },
      ]),
      [post?.id, title?.id],
    );
    assert.deepEqual(ids(JSON.stringify(previous)), [title?.id, post?.id]);
  });

  test("a renamed field's former name is free for a new one", () => {
    const fields = read(
      [
        { ...title, name: 'headline' },
        { name: 'title', type: 'number' },
      ],
      { previous },
    );
    assert.equal(fields[0]?.id, title?.id);
    assert.notEqual(fields[1]?.id, title?.id);
  });

  test('a new id with an old name is another field', () => {
    const [field] = read([{ id: 'new', name: 'title', type: 'number' }], { previous });
    assert.deepEqual([field?.id, field?.type], ['new', 'number']);
  });

  test('cannot change type or target', () => {
    const input = [
      { name: 'title', type: 'number' },
      { ...post, name: 'p', collection: 'tags' },
    ];
    assert.deepEqual(problemsOf(input, { previous }), {
      'fields.title.type': 'cannot change from text: drop the field and add it again',
      'fields.p.collection': 'cannot change from posts: drop the field and add it again',
    });
  });

  test('keep system fields', () => {
    const system = previous.map((field) => ({ ...field, system: true }));
    const [field] = read([{ ...title, system: false }], { previous: system });
    assert.equal(field?.system, true);
  });
});
