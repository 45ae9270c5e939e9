import { type Row, raw } from './row.ts';
import { idOf } from './side.ts';

/** Records of one second are listed in the order of their ids here, so the first record has the first id. */
export const chosenId = '000000000000001';

/** Reads and writes of records. Rows run in order. */
export const recordRows: readonly Row[] = [
  {
    name: 'create with an id and values in other forms',
    run: ({ alice }) =>
      alice.collection('posts').create({
        id: chosenId,
        title: 'second',
        author: idOf(alice),
        n: '5',
        b: 'true',
        d: '2026-01-31 10:00:00.000Z',
        j: '{"a":[1]}',
        s: 'a',
        ss: 'b',
        g: { lon: 2, lat: 1 },
        u: 'https://example.com/a',
        e: 'a@example.com',
      }),
  },
  {
    name: 'create',
    async run({ alice, ids }) {
      const record = await alice.collection('posts').create({ title: 'first', author: idOf(alice) });
      ids.first = record.id;
      return record;
    },
  },
  {
    name: 'create with a taken id',
    run: ({ alice }) => alice.collection('posts').create({ id: chosenId, title: 'x', author: idOf(alice) }),
  },
  { name: 'create without a required value', run: ({ alice }) => alice.collection('posts').create({}) },
  {
    name: 'create with wrong texts and numbers',
    run: ({ alice }) =>
      alice.collection('posts').create({ title: 'x'.repeat(21), n: 101, e: 'nobody', u: 'nowhere', unknown: 1 }),
  },
  {
    name: 'create with a number that is too small',
    run: ({ alice }) => alice.collection('posts').create({ title: 'x', n: -6 }),
  },
  {
    name: 'create with a select value that does not exist',
    run: ({ alice }) => alice.collection('posts').create({ title: 'x', s: 'z' }),
    differs: 'The message lists the values; the code is equal.',
  },
  {
    name: 'create with a relation to no record',
    run: ({ alice }) => alice.collection('posts').create({ title: 'x', author: 'nonexistent1234' }),
  },
  {
    name: 'create ignores hidden fields',
    run: async ({ alice, admin }) => {
      const { id } = await alice.collection('posts').create({ title: 'hidden', author: idOf(alice), secret: 'mine' });
      return (await admin.collection('posts').getOne(id)).secret;
    },
  },
  {
    name: 'create by a guest whom the rule refuses',
    run: ({ guest }) => guest.collection('posts').create({ title: 'x' }),
  },
  { name: 'create in a closed collection', run: ({ alice }) => alice.collection('closed').create({ name: 'x' }) },
  {
    name: 'create as an admin in a closed collection',
    run: ({ admin }) => admin.collection('closed').create({ name: 'x' }),
  },
  {
    name: 'create that is not JSON',
    run: (cast) => raw(cast, 'POST', '/api/collections/tags/records', { body: '{bad' }),
  },
  {
    name: 'create with expand and fields',
    run: ({ alice }) =>
      alice
        .collection('posts')
        .create({ title: 'expanded', author: idOf(alice) }, { expand: 'author', fields: 'title,expand.author.name' }),
  },
  { name: 'get', run: ({ guest, ids }) => guest.collection('posts').getOne(ids.first ?? '') },
  { name: 'get of no record', run: ({ guest }) => guest.collection('posts').getOne('nothing') },
  { name: 'get of a hidden record', run: ({ bob, alice }) => bob.collection('users').getOne(idOf(alice)) },
  { name: 'get in a closed collection', run: ({ guest }) => guest.collection('closed').getOne('x') },
  { name: 'get in no collection', run: ({ guest }) => guest.collection('nothing').getOne('x') },
  { name: 'the own account shows its address', run: ({ alice }) => alice.collection('users').getOne(idOf(alice)) },
  { name: 'list', run: ({ guest }) => guest.collection('posts').getList(1, 2) },
  { name: 'list the last page', run: ({ guest }) => guest.collection('posts').getList(3, 2, { fields: 'title' }) },
  { name: 'list beyond the end', run: ({ guest }) => guest.collection('posts').getList(9, 2) },
  {
    name: 'list with too many on a page',
    run: ({ guest }) => guest.collection('posts').getList(1, 5000, { fields: 'id' }),
  },
  {
    name: 'list with a page that is not a number',
    run: (cast) => raw(cast, 'GET', '/api/collections/posts/records?page=x'),
  },
  {
    name: 'list without a total',
    run: ({ guest }) => guest.collection('posts').getList(1, 1, { skipTotal: true, fields: 'title' }),
  },
  { name: 'list all', run: ({ guest }) => guest.collection('posts').getFullList({ batch: 2, fields: 'title' }) },
  { name: 'list only what the rule admits', run: ({ bob }) => bob.collection('users').getFullList({ fields: 'name' }) },
  { name: 'list a closed collection', run: ({ guest }) => guest.collection('closed').getList() },
  { name: 'list as an admin', run: ({ admin }) => admin.collection('closed').getFullList({ fields: 'name' }) },
  { name: 'list no collection', run: ({ guest }) => guest.collection('nothing').getList() },
  {
    name: 'sort by several fields',
    run: ({ guest }) => guest.collection('posts').getFullList({ sort: '-n,+title', fields: 'title,n' }),
  },
  {
    name: 'sort by a relation',
    run: ({ guest }) => guest.collection('posts').getFullList({ sort: '-author.name,title', fields: 'title' }),
    differs: 'Our sorts read no fields of related records that the caller may not see.',
  },
  {
    name: 'sort by an unknown field',
    run: ({ guest }) => guest.collection('posts').getList(1, 1, { sort: 'nothing' }),
  },
  {
    name: 'filter with parameters',
    run: ({ guest }) =>
      guest.collection('posts').getFullList({
        filter: guest.filter('title = {:title} || n > {:n}', { title: "fir'st", n: 4 }),
        fields: 'title',
      }),
  },
  {
    name: 'filter by a part',
    run: ({ guest }) => guest.collection('posts').getFullList({ filter: 'title ~ "ECO"', fields: 'title' }),
  },
  {
    name: 'filter by a date',
    run: ({ guest }) =>
      guest.collection('posts').getFullList({ filter: 'd >= "2026-01-31 00:00:00.000Z"', fields: 'title' }),
  },
  {
    name: 'list with modifiers of fields that do not exist',
    async run({ alice }) {
      const statuses = [];
      for (const modifier of ['excerpt', 'excerpt(a)', 'excerpt(-1)', 'nope(1)', 'excerpt(3)']) {
        const fields = `title:${modifier}`;
        statuses.push(
          await alice
            .collection('posts')
            .getList(1, 1, { fields })
            .then(
              () => 200,
              ({ status }) => status,
            ),
        );
      }
      return statuses;
    },
  },
  {
    name: 'list a collection in capitals',
    run: ({ alice }) =>
      alice
        .collection('POSTS')
        .getFirstListItem('title = "first"')
        .then(({ title }) => title),
  },
  {
    name: 'filter by a text with a percent sign on both sides',
    run: ({ alice }) => alice.collection('posts').getList(1, 10, { filter: 'title ~ "%IRS%"' }),
  },
  {
    name: 'filter by an empty date',
    run: ({ guest }) =>
      guest.collection('posts').getFullList({ filter: 'd = "" && n = 0', fields: 'title', sort: 'title' }),
  },
  {
    name: 'filter by a list',
    run: ({ guest }) =>
      guest.collection('posts').getFullList({ filter: 'ss ?= "b" || ss:each = "b"', fields: 'title' }),
  },
  {
    name: 'filter by times',
    run: ({ guest }) =>
      guest
        .collection('posts')
        .getFullList({ filter: 'created > @todayStart && created < @todayEnd', fields: 'title', sort: 'title' }),
  },
  {
    name: 'filter by an unknown field',
    run: ({ guest }) => guest.collection('posts').getList(1, 1, { filter: 'nothing = 1' }),
  },
  {
    name: 'filter by a hidden field',
    run: ({ guest }) => guest.collection('posts').getList(1, 1, { filter: 'secret = ""' }),
  },
  {
    name: 'filter by @request',
    run: ({ guest }) => guest.collection('posts').getList(1, 1, { filter: '@request.auth.id = ""' }),
  },
  {
    name: 'filter by @collection',
    run: ({ guest }) => guest.collection('posts').getList(1, 1, { filter: '@collection.closed.name = "x"' }),
  },
  {
    name: 'filter that does not parse',
    run: ({ guest }) => guest.collection('posts').getList(1, 1, { filter: 'title = ' }),
  },
  {
    name: 'the first match',
    run: ({ guest }) => guest.collection('posts').getFirstListItem('title = "second"', { fields: 'title' }),
  },
  {
    name: 'the first match, without one',
    run: ({ guest }) => guest.collection('posts').getFirstListItem('title = "nothing"'),
  },
  {
    name: 'expand a relation that shows nothing to the caller',
    run: ({ guest }) => guest.collection('posts').getList(1, 1, { expand: 'author,nothing', filter: 'n = 5' }),
  },
  {
    name: 'expand referring records',
    run: ({ alice }) =>
      alice
        .collection('users')
        .getOne(idOf(alice), { expand: 'posts_via_author', fields: 'name,expand.posts_via_author.id' }),
  },
  {
    name: 'fields of a level',
    run: ({ guest }) => guest.collection('posts').getList(1, 1, { fields: '*,title:excerpt(3,true)', filter: 'n = 5' }),
  },
  { name: 'update', run: ({ alice }) => alice.collection('posts').update(chosenId, { title: 'changed', n: null }) },
  {
    name: 'update with modifiers',
    run: ({ alice }) => alice.collection('posts').update(chosenId, { 'n+': 7, 'ss+': ['a', 'c'], 'ss-': 'b' }),
  },
  { name: 'update to nothing', run: ({ alice }) => alice.collection('posts').update(chosenId, { title: '' }) },
  {
    name: "update another account's record",
    run: ({ bob }) => bob.collection('posts').update(chosenId, { title: 'bob' }),
  },
  { name: 'update by a guest', run: ({ guest }) => guest.collection('posts').update(chosenId, { title: 'x' }) },
  { name: 'update in a closed collection', run: ({ alice }) => alice.collection('tags').update('x', { name: 'y' }) },
  { name: "delete another account's record", run: ({ bob }) => bob.collection('posts').delete(chosenId) },
  { name: 'delete', run: ({ alice }) => alice.collection('posts').delete(chosenId) },
  { name: 'delete twice', run: ({ alice }) => alice.collection('posts').delete(chosenId) },
  { name: 'delete in a closed collection', run: ({ guest }) => guest.collection('closed').delete('x') },
];
