import type { PocketBaseData } from '../harness/pocketbase/data.ts';

/** `secret-of-ada`, by bcrypt with cost 5. */
export const adasHash = '$2a$05$Gbxb1Ff3icUEfIaU4oOokecihibm23J0noMRDQx3CaMmNsSoQh7Hm';

/** An id in PocketBase has 15 characters. */
export const id = (name: string) => name.padEnd(15, '0');
export const day = (number: number) => `2025-01-${String(number).padStart(2, '0')} 10:00:00.123Z`;
export const seconds = (number: number) => Date.UTC(2025, 0, number, 10) / 1000;

/** A small shop of notes: users, labels and notes that refer to each other. */
export function fillNotes(data: PocketBaseData): void {
  data.define({
    id: '_pb_users_auth_',
    name: 'users',
    type: 'auth',
    fields: [
      { name: 'username', type: 'text', required: true, min: 3 },
      { name: 'type', type: 'select', values: ['staff', 'guest'], maxSelect: 1 },
      { name: 'avatar', type: 'file', maxSelect: 1, maxSize: 0 },
    ],
    rules: { list: '', view: 'id = @request.auth.id', create: null, update: 'id = @request.auth.id' },
    indexes: [
      'CREATE UNIQUE INDEX `idx_u` ON `users` (`username`)',
      'CREATE UNIQUE INDEX `idx_t` ON `users` (`tokenKey`)',
    ],
    options: {
      authRule: '',
      passwordAuth: { enabled: true, identityFields: ['email', 'username'] },
      oauth2: {
        enabled: true,
        providers: [
          { name: 'github', clientId: 'of-github', clientSecret: 'never taken' },
          {
            name: 'oidc2',
            clientId: 'of-oidc',
            tokenURL: 'https://id.example.com/token',
            userInfoURL: 'https://id.example.com/me',
          },
          { name: 'yandex', clientId: 'of-yandex' },
        ],
      },
    },
  });
  data.define({
    id: 'pbc_labels',
    name: 'labels',
    fields: [
      { name: 'name', type: 'text', required: true },
      { name: 'first', type: 'relation', collectionId: 'pbc_notes', maxSelect: 1 },
      { name: 'until', type: 'date' },
    ],
    rules: { list: '', view: '' },
  });
  data.define({
    id: 'pbc_notes',
    name: 'notes',
    fields: [
      { name: 'title', type: 'text', required: true },
      { name: 'owner', type: 'relation', collectionId: '_pb_users_auth_', maxSelect: 1, cascadeDelete: true },
      { name: 'labels', type: 'relation', collectionId: 'pbc_labels', maxSelect: 9 },
      { name: 'parent', type: 'relation', collectionId: 'pbc_notes', maxSelect: 1 },
      { name: 'amount', type: 'number', onlyInt: true, required: true },
      { name: 'at', type: 'date' },
      { name: 'place', type: 'geoPoint' },
      { name: 'data', type: 'json' },
      { name: 'files', type: 'file', maxSelect: 5 },
      { name: 'expand', type: 'text' },
    ],
    rules: {
      list: 'owner = @request.auth.id',
      view: '@request.auth.type = "staff" || owner = @request.auth.id',
      create: '@request.auth.id != ""',
      update: 'strftime("%Y", at) = "2025"',
      delete: null,
    },
    indexes: ['CREATE INDEX `idx_n` ON `notes` (`title`, `amount`)'],
  });
  const times = { created: day(1), updated: day(2) };
  const hashed = { password: adasHash, tokenKey: 'k'.repeat(50), verified: 1, emailVisibility: 0, ...times };
  data.insert('users', {
    id: id('ada'),
    email: 'ada@example.com',
    username: 'ada',
    type: 'staff',
    avatar: 'me_1234567890.png',
    ...hashed,
  });
  data.insert('users', { id: id('bob'), email: 'bob@example.com', username: 'bob', type: '', avatar: '', ...hashed });
  for (const [provider, providerId] of [
    ['github', '4711'],
    ['oidc2', 'of-ada'],
    ['yandex', '12'],
  ] as const)
    data.insert('_externalAuths', {
      ...{ id: id(provider), collectionRef: '_pb_users_auth_', recordRef: id('ada'), provider, providerId },
      ...times,
    });
  data.insert('labels', { id: id('red'), name: 'red', first: id('two'), until: '9999-12-31 23:59:59.999Z', ...times });
  data.insert('notes', {
    id: id('one'),
    title: 'One',
    owner: id('ada'),
    labels: JSON.stringify([id('red'), id('nobody')]),
    parent: id('two'),
    amount: 3,
    at: day(5),
    place: '{"lon":16.4,"lat":48.2}',
    data: '{"a":[1,null]}',
    files: JSON.stringify(['a_1234567890.txt', 'ü%_1234567890.txt', 'gone_1234567890.txt']),
    expand: 'x',
    ...times,
  });
  data.insert('notes', {
    id: id('two'),
    title: 'Two',
    owner: id('bob'),
    labels: '[]',
    parent: id('one'),
    amount: 0,
    at: '',
    place: '{"lon":0,"lat":0}',
    data: '',
    files: '[]',
    expand: '',
    ...times,
  });
  data.store('_pb_users_auth_', id('ada'), 'me_1234567890.png', 'picture');
  data.store('pbc_notes', id('one'), 'a_1234567890.txt', 'bytes of a');
  data.store('pbc_notes', id('one'), 'a_1234567890.txt.attrs', '{}');
  data.store('pbc_notes', id('one'), 'ü%_1234567890.txt', 'bytes of ü');
}
