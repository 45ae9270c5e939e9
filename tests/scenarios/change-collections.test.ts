import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { make, patch, text } from './collection-changes.ts';

/** 422 that names exactly this place, with how many records violate it. */
const countsRows = (place: string, rows: number) => ({
  status: 422,
  json: is.containing({
    code: 'validation_failed',
    details: { [place]: is.matching(new RegExp(`^${rows} (row|record)s? `)) },
  }),
});

onEachTopology('a changed collection keeps its data', async (t, target) => {
  const admin = await target.admin();
  const { field } = await make(admin, 'notes', [
    text('title'),
    text('body'),
    { name: 'stars', type: 'number' },
    { name: 'kind', type: 'select', options: { values: ['a', 'b'] } },
  ]);
  const first = await admin.create('notes', { title: 'same', body: 'x', stars: 1, kind: 'a' });
  await admin.create('notes', { title: 'same', stars: 9, kind: 'b' });
  await admin.create('notes', { title: '', body: 'a longer text' });
  const rest = [field('body'), field('stars'), field('kind')];
  const record = (members: object) => ({ id: first.id, created: first.created, updated: is.number, ...members });
  await runScenarios(t, target, [
    {
      name: 'a field that becomes required over rows without a value',
      ...patch('notes', { fields: [field('title', { required: true }), ...rest] }),
      expect: countsRows('fields.title.required', 1),
      spec: 'collections §6.4',
    },
    {
      name: 'a field that becomes unique over duplicates',
      ...patch('notes', { fields: [field('title', { options: { unique: true } }), ...rest] }),
      expect: countsRows('fields.title.options.unique', 2),
      spec: 'collections §6.4',
    },
    {
      name: 'a text that becomes shorter than its rows',
      ...patch('notes', { fields: [field('title'), field('body', { options: { max: 3 } }), ...rest.slice(1)] }),
      expect: countsRows('fields.body.options.max', 1),
      spec: 'collections §6.4',
    },
    {
      name: 'a pattern that rows do not match',
      ...patch('notes', { fields: [field('title'), field('body', { options: { pattern: '^a' } }), ...rest.slice(1)] }),
      expect: countsRows('fields.body.options.pattern', 1),
      spec: 'collections §6.4',
    },
    {
      name: 'a number that becomes narrower than its rows',
      ...patch('notes', {
        fields: [field('title'), field('body'), field('stars', { options: { max: 5 } }), field('kind')],
      }),
      expect: countsRows('fields.stars.options.max', 1),
      spec: 'collections §6.4',
    },
    {
      name: 'a select that loses a value that is in use',
      ...patch('notes', {
        fields: [field('title'), field('body'), field('stars'), field('kind', { options: { values: ['a'] } })],
      }),
      expect: countsRows('fields.kind.options.values', 1),
      spec: 'collections §6.4',
    },
    {
      name: 'a new required field over rows',
      ...patch('notes', { fields: [field('title'), ...rest, text('must', {}, { required: true })] }),
      expect: countsRows('fields.must.required', 3),
      spec: 'collections §6.4',
    },
    {
      name: 'the record is unchanged after refused changes',
      request: `GET /api/v1/notes/${first.id}`,
      expect: {
        status: 200,
        json: { data: record({ title: 'same', body: 'x', stars: 1, kind: 'a', updated: first.updated }) },
      },
      spec: 'collections §6.4',
    },
    {
      name: 'renamed fields keep their data by id, and two fields swap names',
      ...patch('notes', {
        fields: [
          field('title', { name: 'body' }),
          field('body', { name: 'title' }),
          field('stars', { name: 'rank' }),
          field('kind'),
        ],
      }),
      expect: { status: 200 },
      spec: 'collections §6.2',
    },
    {
      name: 'the record has the renamed fields',
      request: `GET /api/v1/notes/${first.id}`,
      expect: { status: 200, json: { data: record({ body: 'same', title: 'x', rank: 1, kind: 'a' }) } },
      spec: 'records §2.1',
    },
    {
      name: 'a select that becomes multiple keeps its values',
      ...patch('notes', {
        fields: [
          field('title', { name: 'body' }),
          field('body', { name: 'title' }),
          field('kind', { options: { values: ['a', 'b', 'c'], multiple: true } }),
          text('more'),
        ],
      }),
      expect: { status: 200 },
      spec: 'collections §6.2',
    },
    {
      name: 'a dropped field is gone and a new one is empty',
      request: `GET /api/v1/notes/${first.id}`,
      expect: { status: 200, json: { data: record({ body: 'same', title: 'x', kind: ['a'], more: null }) } },
      spec: 'collections §6.2',
    },
    {
      name: 'another type for a field',
      ...patch('notes', { fields: [field('title', { name: 'body', type: 'number', options: {} })] }),
      expect: refused.naming('cannot change'),
      spec: 'collections §6.3',
    },
    {
      name: 'another type for the collection',
      ...patch('notes', { type: 'auth' }),
      expect: refused.invalid('type'),
      spec: 'collections §1.1',
    },
    { name: 'an unknown collection', ...patch('nowhere', {}), expect: refused.notFound, spec: 'collections §4' },
    { name: 'a change by a user', ...patch('notes', {}), as: 'user', expect: refused.forbidden, spec: 'http §6.3' },
  ]);
});
